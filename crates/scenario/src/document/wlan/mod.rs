//! `[wlan]`: an IEEE 802.11 channel that the mobiles share with an access point.

mod channel;

use airtcp_link::phy::ppdu::MAX_TIME;
use airtcp_link::scheduler::airtime::AirtimeLimits;

pub use channel::{Channels, Schedulers};
use channel::{Rates, Stations};

use super::{AqmTable, LossTable, OutageTable, QueueTable, RadioTable, SECOND};
use crate::names::{
    AccessCategoryName, BandName, ChannelWidth, CollisionHeard, GuardIntervalName, HandOn,
    MissedBlockAck, Preamble, ProtectionName, RateControlName, Standard, StationScheduler,
};
use airtcp_units::Duration;
use airtcp_units::bounded::{Bytes, Limit, Rate, Span, Whole};

/// Most transmissions of a frame, the first included.
pub(crate) type Attempts = Whole<1, 1_000_000>;
/// A modulation and coding scheme.
pub(crate) type Mcs = Whole<0, 11>;
/// Spatial streams.
pub(crate) type Streams = Whole<1, 4>;
/// A contention window in slots.
pub(crate) type ContentionWindow = Whole<1, 32_767>;

keys! {
    /// An IEEE 802.11 channel, all stations in range of each other.
    #[derive(Clone, Default)]
    pub struct WlanTable under Channels, Schedulers, Rates, Stations takes {
        /// Which physical layer.
        standard: Standard = Standard::default();
        /// The standard of each mobile, taken in turn: that of the channel, which is 802.11n, ac or
        /// ax, or an older one of the same band.
        station_standard: Vec<Standard>;
        /// How frames are announced to older stations that do not understand them: by
        /// "cts-to-self" when left out if there are stations of 802.11b, else not at all.
        protection: ProtectionName;
        /// Rate of data frames: one of the standard's.
        rate: Rate;
        /// Rates of data frames to and from each mobile, taken in turn, in place of `rate`: rates
        /// of the standard, at least `basic_rate`. In a channel of 802.11n, ac or ax, rates of its
        /// 802.11b, g and a stations (`station_standard`), by default the fastest.
        station_rates: Vec<Rate>;
        /// Rate of ACK, RTS and CTS frames: one of the standard's, not above `rate`.
        basic_rate: Rate;
        /// The preamble in front of every frame (802.11b only).
        preamble: Preamble;
        /// Band (802.11n and ax): "6 GHz" is as "5 GHz". By default 5 GHz.
        band: BandName;
        /// Modulation and coding scheme of data frames, the same for all streams: 0 to 7 in
        /// 802.11n, to 9 in ac, to 11 in ax.
        mcs: Mcs;
        /// Modulation and coding schemes of data frames to and from each mobile, taken in turn, in
        /// place of `mcs`.
        station_mcs: Vec<Mcs>;
        /// Width of the channel (802.11n, ac and ax).
        channel_width: ChannelWidth;
        /// Spatial streams (802.11n, ac and ax).
        spatial_streams: Streams;
        /// Spatial streams to and from each mobile, taken in turn, in place of `spatial_streams`.
        station_streams: Vec<Streams>;
        /// Guard interval between symbols (802.11n, ac and ax).
        guard_interval: GuardIntervalName;
        /// How the modes of data frames are chosen (802.11n, ac and ax): adaptive choices use all
        /// modes up to `channel_width` and `spatial_streams`.
        rate_control: RateControlName;
        /// The same for frames to and from each mobile, taken in turn, in place of `rate_control`.
        station_rate_control: Vec<RateControlName>;
        /// Frames that are sent together and acknowledged together (802.11n, ac and ax).
        aggregation: AggregationTable, holding keys;
        /// Access category of each flow, used in turn (802.11n, ac and ax).
        categories: Vec<AccessCategoryName>;
        /// How access categories contend (802.11n, ac and ax).
        edca: EdcaTable, holding keys;
        /// Scheduler of the access point and the mobiles (802.11n, ac and ax). The access point of
        /// 802.11b, g and a has one queue for all by default, or "round-robin": a queue for each
        /// station, with failed frames returned to its head.
        scheduler: StationScheduler;
        /// Which packet of a queue is served, dropped or marked (`scheduler = "qdisc"`,
        /// "round-robin", "airtime"): FQ-CoDel with a target of 20 ms, as Linux has it for Wi-Fi,
        /// when left out.
        aqm: AqmTable, holding keys;
        /// The driver's queue, below the discipline (`scheduler = "qdisc"`).
        driver_queue: QueueTable, holding keys;
        /// Shares of airtime, and airtime that waits in the hardware (`scheduler = "airtime"`).
        airtime: AirtimeTable, holding keys;
        /// Hops over the air between each mobile and the access point, one after the other
        /// (802.11b, g and a): relays forward the packets of all flows, first in, first out, and
        /// share the channel with all others.
        hops: Whole<1, 16>;
        /// Mobile stations; flow i is of station i modulo this. One a flow when left out.
        stations: Whole<1, 2_000>;
        /// Most transmissions of a frame, the first included (IEEE 802.11
        /// `dot11ShortRetryLimit`).
        // IEEE 802.11-2016 §C.3.
        retry_limit: Option<u32> = Some(7), as Limit<Attempts>;
        /// The same for frames above `rts_threshold` (`dot11LongRetryLimit`).
        long_retry_limit: Limit<Attempts>;
        /// Most transmissions of a frame to and from each mobile, taken in turn, in place of
        /// `retry_limit` and `long_retry_limit`.
        station_retry_limits: Vec<Limit<Attempts>>;
        /// Larger frames are preceded by RTS and CTS (`dot11RTSThreshold`), MAC header and FCS
        /// counted.
        rts_threshold: Option<u32> = None, as Limit<Bytes<0, 65_535>>;
        /// Larger frames are cut (`dot11FragmentationThreshold`), MAC header and FCS counted.
        fragmentation_threshold: Limit<Bytes<256, 65_535>>;
        /// Smallest contention window in slots: 2^k − 1.
        cw_min: ContentionWindow;
        /// Largest contention window in slots: 2^k − 1.
        cw_max: ContentionWindow;
        /// Time that a sender waits for an ACK. By the standard when left out: SIFS, a slot and the
        /// time a receiver needs to notice a preamble.
        ack_timeout: Span<1_000, SECOND>;
        /// Reaction of stations to a collision on a channel of 802.11n, ac or ax.
        collision_heard: CollisionHeard;
        /// Overhead of MAC and LLC on an IP packet.
        overhead: Bytes<0, 1_000>;
        /// The queue at each mobile, and at the access point unless that differs.
        queue: QueueTable = QueueTable::default(), holding keys;
        /// The queue at the access point.
        access_point_queue: QueueTable, holding keys;
        /// Frames that the radio damages by an error model: each attempt counts. Only data frames
        /// in `direction`; link-layer acknowledgments are spared.
        loss: LossTable, holding keys;
        /// Frames that the radio damages by their signal-to-noise ratio, in place of `loss`: all
        /// frames.
        radio: RadioTable, holding keys;
        /// A channel that goes away now and then: every frame is damaged meanwhile.
        outage: OutageTable, holding keys;
    }
}

keys! {
    /// A-MPDUs and block ACK.
    #[derive(Clone, Copy, Default)]
    pub struct AggregationTable takes {
        /// Most frames in an aggregate; 1 for no aggregation.
        frames: u32 = 256, as Whole<1, 256>;
        /// Most bytes of an aggregate. By the standard when left out: 65535 B in 802.11n, 1048575 B
        /// in ac, 6500631 B in ax.
        bytes: Bytes<1, 6_500_631>;
        /// Most bytes of several packets in one frame (A-MSDU): up to 7935 B in 802.11n, 3839 B
        /// where its frames are aggregated too, and 11454 B in ac and ax. "0 B" for one packet in
        /// each frame, as with drivers that use only A-MPDU.
        amsdu: u32 = 0, as Bytes<0, 11_454>;
        /// Longest transmission of an aggregate (`aPPDUMaxTime`).
        time: Duration = MAX_TIME, as Span<100_000, 5_484_000>;
        /// Frames from the oldest missing one on that a block ACK can cover: 64, and 256 in
        /// 802.11ax, when left out.
        window: Whole<1, 256>;
        /// How long a receiver holds packets back that have overtaken a missing one.
        // Linux, net/mac80211/rx.c: `HT_RX_REORDER_BUF_TIMEOUT`.
        reorder_timeout: Duration = Duration::from_millis(100), as Span<1_000, SECOND>;
        /// Reaction of a sender to a missing block ACK.
        missed_block_ack: MissedBlockAck = MissedBlockAck::default();
        /// When a receiver passes on the frames of an aggregate.
        hand_on: HandOn = HandOn::default();
    }
}

keys! {
    /// How each access category contends.
    #[derive(Clone, Copy, Default)]
    pub struct EdcaTable takes {
        /// AC_BK.
        background: CategoryTable, holding keys;
        /// AC_BE.
        best_effort: CategoryTable, holding keys;
        /// AC_VI.
        video: CategoryTable, holding keys;
        /// AC_VO.
        voice: CategoryTable, holding keys;
    }
}

keys! {
    /// How an access category contends. By the standard when left out (IEEE 802.11-2020 table
    /// 9-155), TXOP limits as WMM has them.
    #[derive(Clone, Copy, Default)]
    pub struct CategoryTable takes {
        /// Slots of its interframe space after SIFS.
        aifsn: Whole<1, 15>;
        /// Smallest contention window in slots: 2^k − 1.
        cw_min: ContentionWindow;
        /// Largest contention window in slots: 2^k − 1.
        cw_max: ContentionWindow;
        /// How long it may keep the channel; "0 ms" for one exchange.
        txop_limit: Span<0, SECOND>;
    }
}

keys! {
    /// Airtime fairness and airtime queue limits, as mac80211 has them.
    #[derive(Clone, Copy, Default)]
    pub struct AirtimeTable takes {
        /// Most estimated airtime of a station's packets in the hardware, while all together have
        /// `threshold`.
        limit_low: Duration = AirtimeLimits::default().low, as Span<100_000, SECOND>;
        /// The same while all together have less.
        limit_high: Duration = AirtimeLimits::default().high, as Span<100_000, SECOND>;
        /// Estimated airtime in the hardware of all stations from which on `limit_low` holds.
        threshold: Duration = AirtimeLimits::default().threshold, as Span<0, SECOND>;
        /// Whether airtime used by a mobile to send is charged to it too.
        counts_received: bool = AirtimeLimits::default().counts_received;
    }
}

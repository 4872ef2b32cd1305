//! `[wlan]`: an IEEE 802.11 channel that the mobiles share with an access point.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AqmTable, LossTable, QueueTable, RadioTable, SECOND, SuspensionTable};
use crate::names::{
    AccessCategoryName, BandName, ChannelWidth, GuardIntervalName, MissedBlockAck, Preamble,
    Standard, StationScheduler,
};
use airtcp_units::bounded::{Bytes, Limit, Rate, Span, Whole};

/// Most transmissions of a frame, the first included.
pub(crate) type Attempts = Whole<1, 1_000_000>;
/// A modulation and coding scheme.
pub(crate) type Mcs = Whole<0, 11>;
/// A contention window in slots.
pub(crate) type ContentionWindow = Whole<1, 32_767>;

/// An IEEE 802.11 channel, all stations in range of each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WlanTable {
    /// Which physical layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard: Option<Standard>,
    /// Rate of data frames: one of the standard's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Rates of data frames to and from each mobile, taken in turn, in place of `rate`: of the
    /// standard's, none below `basic_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station_rates: Option<Vec<Rate>>,
    /// Rate of ACK, RTS and CTS frames: one of the standard's, not above `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basic_rate: Option<Rate>,
    /// The preamble in front of every frame (802.11b alone).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preamble: Option<Preamble>,
    /// Band (802.11n and ax): "6 GHz" is as "5 GHz". By default 5 GHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<BandName>,
    /// Modulation and coding scheme of data frames, the same for all streams: 0 to 7 in 802.11n, to
    /// 9 in ac, to 11 in ax.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcs: Option<Mcs>,
    /// Modulation and coding schemes of data frames to and from each mobile, taken in turn, in
    /// place of `mcs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station_mcs: Option<Vec<Mcs>>,
    /// Width of the channel (802.11n, ac and ax).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_width: Option<ChannelWidth>,
    /// Spatial streams (802.11n, ac and ax).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spatial_streams: Option<Whole<1, 4>>,
    /// Spatial streams to and from each mobile, taken in turn, in place of `spatial_streams`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub station_streams: Option<Vec<Whole<1, 4>>>,
    /// Guard interval between symbols (802.11n, ac and ax).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard_interval: Option<GuardIntervalName>,
    /// Frames that are sent together and acknowledged together (802.11n, ac and ax).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<AggregationTable>,
    /// Access category of each flow, used in turn (802.11n, ac and ax).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<AccessCategoryName>>,
    /// How access categories contend (802.11n, ac and ax).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edca: Option<EdcaTable>,
    /// Who is served next at the access point and at mobiles (802.11n, ac and ax).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<StationScheduler>,
    /// Which packet of a queue is served, dropped or marked (`scheduler = "qdisc"`, "round-robin",
    /// "airtime"): FQ-CoDel with a target of 20 ms, as Linux has it for Wi-Fi, when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<AqmTable>,
    /// The driver's queue behind the discipline (`scheduler = "qdisc"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_queue: Option<QueueTable>,
    /// Shares of airtime, and airtime that waits in the hardware (`scheduler = "airtime"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub airtime: Option<AirtimeTable>,
    /// Mobile stations; flow i is of station i modulo this. One a flow when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stations: Option<Whole<1, 2_000>>,
    /// Most transmissions of a frame, the first included (IEEE 802.11
    /// `dot11ShortRetryLimit`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_limit: Option<Limit<Attempts>>,
    /// The same for frames above `rts_threshold` (`dot11LongRetryLimit`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_retry_limit: Option<Limit<Attempts>>,
    /// Larger frames are preceded by RTS and CTS (`dot11RTSThreshold`), MAC header and FCS counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rts_threshold: Option<Limit<Bytes<0, 65_535>>>,
    /// Larger frames are cut (`dot11FragmentationThreshold`), MAC header and FCS counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragmentation_threshold: Option<Limit<Bytes<256, 65_535>>>,
    /// Smallest contention window in slots: 2^k − 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_min: Option<ContentionWindow>,
    /// Largest contention window in slots: 2^k − 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_max: Option<ContentionWindow>,
    /// Time that a sender waits for an ACK. By the standard when left out: SIFS, a slot and the
    /// time a receiver needs to notice a preamble.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_timeout: Option<Span<1_000, SECOND>>,
    /// Overhead of MAC and LLC on an IP packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes<0, 1_000>>,
    /// The queue at each mobile, and at the access point unless that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTable>,
    /// The queue at the access point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_point_queue: Option<QueueTable>,
    /// Frames that the radio damages by an error model: each attempt counts. Only data frames that
    /// carry what `direction` says; acknowledgments of the link are spared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
    /// Frames that the radio damages by their signal-to-noise ratio, in place of `loss`: all
    /// frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioTable>,
    /// A channel that goes away now and then: every frame is damaged meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<SuspensionTable>,
}

/// A-MPDUs and block ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AggregationTable {
    /// Most frames in an aggregate; 1 for no aggregation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<Whole<1, 256>>,
    /// Most bytes of an aggregate. By the standard when left out: 65535 B in 802.11n, 1048575 B in
    /// ac, 6500631 B in ax.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes<1, 6_500_631>>,
    /// Longest transmission of an aggregate (`aPPDUMaxTime`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Span<100_000, 5_484_000>>,
    /// Frames from the oldest missing one on that a block ACK can cover: 64, and 256 in 802.11ax,
    /// when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Whole<1, 256>>,
    /// How long a receiver holds packets back that have overtaken a missing one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder_timeout: Option<Span<1_000, SECOND>>,
    /// What a sender does when a block ACK does not come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_block_ack: Option<MissedBlockAck>,
}

/// How each access category contends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EdcaTable {
    /// AC_BK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<CategoryTable>,
    /// AC_BE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_effort: Option<CategoryTable>,
    /// AC_VI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<CategoryTable>,
    /// AC_VO.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice: Option<CategoryTable>,
}

/// How an access category contends. By the standard when left out (IEEE 802.11-2020 table 9-155),
/// TXOP limits as WMM has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CategoryTable {
    /// Slots of its interframe space behind SIFS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aifsn: Option<Whole<1, 15>>,
    /// Smallest contention window in slots: 2^k − 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_min: Option<ContentionWindow>,
    /// Largest contention window in slots: 2^k − 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_max: Option<ContentionWindow>,
    /// How long it may keep the channel; "0 ms" for one exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub txop_limit: Option<Span<0, SECOND>>,
}

/// Airtime fairness and airtime queue limits, as mac80211 has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AirtimeTable {
    /// Most estimated airtime of a station's packets in the hardware, while all together have
    /// `threshold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_low: Option<Span<100_000, SECOND>>,
    /// The same while all together have less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_high: Option<Span<100_000, SECOND>>,
    /// Estimated airtime in the hardware of all stations from which on `limit_low` holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Span<0, SECOND>>,
    /// Whether airtime in which a mobile sends counts as its own too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts_received: Option<bool>,
}

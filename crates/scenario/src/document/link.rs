//! `[link]`: a pipe, a recorded link or recorded round-trip times.

use super::keys::Rule;
use super::{
    Amount, AqmTable, HOUR, JitterTable, LateTable, LineDelay, LossTable, LostPacketsTable,
    Packets, RecordedTable, RepeatTable, StopsTable,
};
use crate::names::{DelayOrder, LogStart, RttShapeName, TraceDirection};
use airtcp_units::Duration;
use airtcp_units::bounded::{Bytes, Limit, Rate, Real, Span};

line_keys! {
    /// The link.
    #[derive(Clone, Default)]
    pub struct LinkTable takes {
        /// Rate at which packets are put on the link, counted on whole IP packets.
        rate: Limit<Rate>;
        /// One-way delay of a packet, the same in each direction.
        delay: LineDelay;
        shared queue;
        /// A policer in front of the queue, in the direction of data: it drops what exceeds its
        /// tokens.
        policer: PolicerTable, holding keys;
        /// Packets that the link loses.
        loss: LossTable, holding keys;
        shared aqm;
        /// Packets that the link loses by their numbers, in place of `loss`, as in a recorded run.
        lost_packets: LostPacketsTable, holding keys;
        /// A link that stops: at random, at regular intervals, or as recorded.
        stops: StopsTable, holding keys;
        shared variation;
        /// Recordings of the link (`recorded`, `stops.path`) that start again at their end.
        repeat: RepeatTable, holding keys;
        /// A recorded link: delivery opportunities in mahimahi's format, in place of `rate`.
        trace: TraceTable, holding keys;
        /// A recorded series of round-trip times, in place of rate, delay and queue: the k-th data
        /// packet sent takes the k-th of them, acknowledgments take none (Miyim §V).
        rtt_log: RttLogTable, holding keys;
        /// Round-trip times drawn from a distribution, in the model of `rtt_log`: for links
        /// about which few facts are known.
        rtt_model: RttModelTable, holding keys;
        /// The direction of the acknowledgments, where it differs. Keys left out are the same as in
        /// the data's direction, except for losses.
        reverse: ReverseTable, holding keys;
    }
}

keys! {
    /// The queue in front of the link: a number of packets, of bytes, or both. The packet being
    /// sent is not in it.
    #[derive(Clone, Copy, Default)]
    pub struct QueueTable under OneLimit takes {
        /// Packets that may wait.
        packets: Packets;
        /// Bytes that may wait. With `packets` both limits hold; given without, it replaces the
        /// limit in packets.
        bytes: Amount;
    }
}

/// Packets that may wait where a table limits neither packets nor bytes.
pub(crate) const USUAL_QUEUE: u64 = 100;

/// A limit in bytes replaces the usual one in packets.
pub struct OneLimit;

impl Rule<QueueTable> for OneLimit {
    fn completed(table: &QueueTable) -> QueueTable {
        table.or_packets(USUAL_QUEUE)
    }
}

impl QueueTable {
    /// The same queue, of `packets` if it has no limit.
    pub fn or_packets(self, packets: u64) -> Self {
        match self {
            Self {
                packets: None,
                bytes: None,
            } => Self {
                packets: Some(Packets::clamped(packets)),
                bytes: None,
            },
            limited => limited,
        }
    }
}

keys! {
    /// A token bucket without a queue: a contract's rate, enforced by dropping.
    #[derive(Clone, Copy)]
    pub struct PolicerTable needs {
        /// Rate at which tokens come, counted on whole IP packets.
        rate: Rate;
        /// Most tokens that wait to be taken; a packet that is longer never passes.
        burst: Bytes<64, 1_000_000_000_000>;
    } takes {}
}

keys! {
    /// A recorded link in mahimahi's format, also compressed by gzip: a line is a millisecond in
    /// which `opportunity` bytes may cross.
    #[derive(Clone, Default)]
    pub struct TraceTable takes {
        /// File for the direction to the mobile, relative to the scenario.
        down: String, naming file;
        /// File for the direction from the mobile. A direction without a file has no rate limit.
        up: String, naming file;
        /// Bytes of packets that may cross at each time of `down` and `up`: 1500 in mahimahi's
        /// traces, 1400 in CellReplay's.
        opportunity: u32 = 1_500, as Bytes<1, 65_535>;
        /// The direction that carries the data.
        data: TraceDirection = TraceDirection::default();
        /// Opportunities of the first packets after a pause, where a burst is served otherwise
        /// than a saturating flow. `down` and `up` hold from the end of a burst on.
        light: LightTable, holding keys;
    }
}

keys! {
    /// Opportunities of a link that was idle, in the format of CellReplay's traces of delay and
    /// light opportunities (Sentosa et al., NSDI 2025): of a line the times after the base delay
    /// count, each 1400 bytes. The base delays are another key, `link.recorded`.
    #[derive(Clone, Default)]
    pub struct LightTable takes {
        /// File for the direction to the mobile, relative to the scenario.
        down: String, naming file;
        /// File for the direction from the mobile.
        up: String, naming file;
    }
}

keys! {
    /// A recorded series of round-trip times.
    #[derive(Clone)]
    pub struct RttLogTable needs {
        /// Output of `ping`, with or without `-D`, or CSV; relative to the scenario. The share of
        /// its probes without an answer is the link's loss, unless `link.loss` gives another.
        path: String, naming file;
    } takes {
        /// Whether packets may overtake each other.
        order: DelayOrder = DelayOrder::default();
        /// Start of a run within the recording: the only difference between seeds if nothing is
        /// lost.
        start: LogStart = LogStart::default();
    }
}

keys! {
    /// Round-trip times drawn from a stationary process.
    #[derive(Clone, Copy, Default)]
    pub struct RttModelTable under RttShapes takes {
        /// The shape of the distribution.
        shape: RttShapeName = RttShapeName::default();
        /// Mean round trip.
        mean: Duration = Duration::from_millis(500), as Span<1_000, HOUR>;
        /// Correlation of one round trip with the next.
        autocorrelation: f64 = 0.0, as Real<0, 990_000>;
        /// Standard deviation over mean (`log-normal`).
        variation: Real<0, 10_000_000>;
        /// Share of the round trips in a spike (`spikes`).
        spike_share: Real<1_000, 990_000>;
        /// Delay of a spike, in multiples of the base delay (`spikes`).
        spike_height: Real<1_000_000, 1_000_000_000>;
        /// Whether packets may overtake each other.
        order: DelayOrder = DelayOrder::default();
    }
}

alternatives! {
    /// The distribution of round-trip times.
    #[derive(Copy)]
    pub enum RttShapes of RttModelTable by shape: RttShapeName {
        /// Log-normal.
        LogNormal: LogNormal takes { variation: f64 = 0.5 };
        /// A base delay, and now and then a spike.
        Spikes: Spikes takes { spike_share: f64 = 0.1, spike_height: f64 = 4.0 };
    }
}

line_keys! {
    /// Where the direction that acknowledgments take differs from the other.
    #[derive(Clone, Default)]
    pub struct ReverseTable takes {
        /// Rate at which packets are put on the link.
        rate: Limit<Rate>;
        /// One-way delay of a packet.
        delay: LineDelay;
        shared queue;
        /// Packets that the link loses. Its `direction` may not be given here.
        loss: LossTable, holding keys;
        /// Which of the packets that wait is served, dropped or marked.
        aqm: AqmTable, holding keys;
        /// Packets that are lost by their numbers, in place of `loss`.
        lost_packets: LostPacketsTable, holding keys;
        shared variation;
    }
}

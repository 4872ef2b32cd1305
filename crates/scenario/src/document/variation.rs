//! Variations of a link: stops, jitter, packets that come late, recorded delays and losses.

use super::{DAY, HOUR, LineDelay};
use crate::names::{
    DelayOrder, JitterName, LogStart, LossDirection, StopLengthName, StopProcess, StoppedPackets,
};
use airtcp_units::Probability;
use airtcp_units::bounded::{MILLISECOND, Span};

keys! {
    /// Stops of a link: at regular intervals, at random, or as recorded.
    #[derive(Clone, Default)]
    pub struct StopsTable under LinkStops takes {
        /// When the link stops. Without it `periodic` with `every`, `recorded` with `path`, else
        /// `random`.
        process: StopProcess, usually StopsTable::usual_process;
        /// From the start of one stop to the start of the next; the first comes after this time
        /// (`periodic`).
        every: StopTime;
        /// Mean time from the end of one stop to the start of the next, exponential (`random`).
        working: WorkingTime;
        /// Duration of a stop (`periodic`); its mean (`random`).
        length: StopTime;
        /// Distribution of the lengths (`random`).
        lengths: StopLengthName;
        /// CSV with the columns `start_ms` and `length_ms`, relative to the scenario (`recorded`).
        path: String, naming file;
        /// The fate of packets meanwhile.
        packets: StoppedPackets = StoppedPackets::default();
        /// Which direction stops; both do at the same times.
        direction: LossDirection = LossDirection::Both;
    }
}

/// A time between stops, or of a stop.
type StopTime = Span<1, { 30 * DAY }>;
/// A mean time for which a link works.
type WorkingTime = Span<MILLISECOND, { 30 * DAY }>;

alternatives! {
    /// The stops by their process.
    pub enum LinkStops of StopsTable by process: StopProcess {
        /// At regular intervals.
        Periodic: Periodic needs { every: StopTime, length: StopTime };
        /// After times of work that are drawn.
        Random: Random
            needs { length: StopTime, working: WorkingTime }
            takes { lengths: StopLengthName = StopLengthName::default() };
        /// As in a file.
        Recorded: Recorded needs { path: String };
    }
}

impl StopsTable {
    /// The process that the other keys speak of.
    fn usual_process(&self) -> StopProcess {
        match self {
            Self { every: Some(_), .. } => StopProcess::Periodic,
            Self { path: Some(_), .. } => StopProcess::Recorded,
            _ => StopProcess::default(),
        }
    }
}

keys! {
    /// A medium that goes away for `length` every `every`.
    #[derive(Clone, Copy)]
    pub struct OutageTable needs {
        /// From the start of one outage to the start of the next; the first comes after this time.
        every: Span<1, { 30 * DAY }>;
        /// Duration of an outage.
        length: Span<1, { 30 * DAY }>;
    } takes {}
}

keys! {
    /// A delay that is drawn for each packet, in addition to `delay`.
    #[derive(Clone, Copy)]
    pub struct JitterTable needs {
        /// Its mean.
        mean: Span<1, HOUR>;
    } takes {
        /// The shape of the distribution.
        shape: JitterName = JitterName::default();
        /// Whether packets may overtake each other.
        order: DelayOrder = DelayOrder::default();
    }
}

keys! {
    /// Packets that come late, so that others overtake them.
    #[derive(Clone, Copy)]
    pub struct LateTable needs {
        /// Chance that a packet is one of them.
        share: Probability;
        /// Time by which it arrives later.
        by: LineDelay;
    } takes {}
}

keys! {
    /// Delays and losses, as both changed with time.
    #[derive(Clone)]
    pub struct RecordedTable needs {
        /// CSV with the columns `time_ms`, `delay_ms` (one way) and `loss` (0 to 1), relative to
        /// the scenario. A row holds until the next.
        path: String, naming file;
    } takes {
        /// Whether a packet may overtake another when the delay becomes shorter.
        order: DelayOrder = DelayOrder::Reorder;
    }
}

keys! {
    /// Recordings of delays, losses and stops that start again, all together.
    #[derive(Clone, Copy)]
    pub struct RepeatTable needs {
        /// Time after which they start again; later rows are not used.
        every: Span<MILLISECOND, { 30 * DAY }>;
    } takes {
        /// Start of a run within them: the only difference between seeds if nothing is drawn.
        start: LogStart = LogStart::default();
    }
}

keys! {
    /// Packets that are lost by their numbers.
    #[derive(Clone)]
    pub struct LostPacketsTable needs {
        /// CSV with the column `packet` and, for more than one flow, `flow`, both counted from 0,
        /// relative to the scenario.
        path: String, naming file;
    } takes {}
}

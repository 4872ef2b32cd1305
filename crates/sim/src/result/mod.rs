//! The output of a run: a summary, sampled variables, and events. `docs/reference/results.md`
//! lists every field.

mod air;
mod control;
mod events;
mod flow;
mod latency;
mod packets;
mod pings;
mod probe;
mod reading;
mod responsiveness;
mod rtts;
mod samples;
mod summary;
mod under_load;

pub use air::{AgentLog, FrameLog};
pub use control::{ControlMessage, ControlReport};
pub use events::{EventKind, EventLog};
pub use flow::{
    AtEnd, Completed, Crossings, DatagramFates, Delivery, FlowSummary, Judgments, Latencies,
    Losses, Proxied, Sending, Times,
};
pub use latency::LatencySummary;
pub use packets::PacketLog;
pub use pings::PingTable;
pub use probe::{Probe, ProbeError, Sight};
pub use reading::Reading;
pub use rtts::RttTable;
pub use samples::Samples;
pub use summary::{RunSummary, jain_fairness};
pub use under_load::UnderLoadSummary;

#[cfg(test)]
#[path = "../../../../tests/documentation.rs"]
mod documentation;
#[cfg(test)]
mod tests;

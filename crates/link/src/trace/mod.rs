//! Recorded links: one file per format.
//!
//! A reader takes any byte source, reads no more than [`MAX_BYTES`] of it, and names file, line and
//! remedy when it cannot use the content. Logs of other programs are read by `airtcp-recording`.

mod columns;
pub mod conditions;
pub mod light;
pub mod lost_packets;
pub mod mahimahi;
pub mod repeat;
pub mod rtt_log;
pub mod stop_list;

pub use airtcp_recording::{MAX_BYTES, TraceError, TraceProblem};
pub(crate) use airtcp_recording::{Source, lines};

#[cfg(test)]
mod tests;

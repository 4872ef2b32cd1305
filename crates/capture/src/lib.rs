//! Packet captures in; flows, labelled retransmissions and shares of time out.
//!
//! ```text
//!   file, gzip, pipe ─▶ read: records ─▶ decode: TCP segments ─▶ survey: flows, one pass, bounded
//! ```
//!
//! Times are integers of nanoseconds since the capture's first packet. Nothing panics on any input.

pub mod air;
pub mod analysis;
pub mod capture;
pub mod decode;
pub mod export;
pub mod flow;
mod index;
pub mod packet;
pub mod quic;
pub mod read;
pub mod survey;

pub use analysis::{Analysis, Label};
pub use capture::{Capture, CaptureError};
pub use decode::{Carrier, Endpoint, Other, Radio};
pub use flow::{Completeness, Flow, Half, Packets, Unlisted, Verdict};
pub use packet::{Packet, Way};
pub use read::{ReadError, Reader, Record};
pub use survey::{Limits, Others, Progress, Survey, SurveyError};

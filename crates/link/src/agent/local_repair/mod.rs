//! Parts shared by agents that retransmit lost packets over the radio: copies of data not yet
//! acknowledged by the mobile, a timer, and the interpretation of duplicate acknowledgments.
//!
//! ```text
//!   acknowledged │ copies, oldest first                │ never seen
//!   ─────────────┼──[ a ][ b ][ c ]──────[ e ][ f ]────┼────────────▶ stream
//!               una                 (d passed uncopied)  edge
//! ```

mod deadlines;
mod flow;
mod repairs;
mod round_trip;

use deadlines::Deadlines;
pub(super) use flow::{Acknowledged, Duplicate, Flow, StoredPacket};
pub(super) use repairs::Repairs;
pub use round_trip::LocalTimeout;

//! What agents share that send lost packets again over the radio: copies of what the mobile has not
//! acknowledged, a timer, and what duplicate acknowledgments tell.
//!
//! ```text
//!   acknowledged │ copies, oldest first                │ never seen
//!   ─────────────┼──[ a ][ b ][ c ]──────[ e ][ f ]────┼────────────▶ stream
//!               una                 (d passed uncopied)  edge
//! ```

mod deadlines;
mod flow;
mod round_trip;

pub(super) use deadlines::Deadlines;
pub(super) use flow::{Acknowledged, Duplicate, Flow, Kept};
pub use round_trip::LocalTimeout;

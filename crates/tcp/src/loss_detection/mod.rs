//! What is lost: by duplicate acknowledgments (RFC 5681 §3.2), or by the SACK scoreboard
//! (RFC 6675 §4).

mod duplicate_acks;
mod scoreboard;

pub use duplicate_acks::DuplicateAcks;
pub use scoreboard::{Advanced, Scoreboard, SentSegment};

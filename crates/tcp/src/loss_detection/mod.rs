//! Loss detection: by duplicate acknowledgments (RFC 5681 §3.2), by the SACK scoreboard (RFC 6675
//! §4), or by time (RACK, RFC 8985 §6; QUIC, RFC 9002 §6).

mod arrivals;
mod delivery;
mod duplicate_acks;
mod rack;
mod scoreboard;
mod segment;
mod send_tag;

pub use arrivals::{Arrivals, Outstanding};
pub use delivery::{Answerable, Delivery, LatestSent};
pub use duplicate_acks::DuplicateAcks;
pub use rack::{Detected, Outage, Rack, Tolerance};
pub use scoreboard::{Advanced, Scoreboard};
pub use segment::SentSegment;
pub use send_tag::SendTag;

/// Upper bound of the assumed extent of reordering, in segments (Linux, `tcp_max_reordering`).
const LARGEST_REORDERING: u32 = 300;

/// The extent counted for a reordering that spans `segments`.
#[must_use]
pub fn reordering_of(segments: u64) -> u32 {
    u32::try_from(segments)
        .unwrap_or(u32::MAX)
        .min(LARGEST_REORDERING)
}

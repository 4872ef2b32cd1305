//! Slow start (RFC 5681 §3.1) with a limit on what one acknowledgment adds (RFC 3465 §2.2).

/// How many bytes the window grows by for `credit` bytes acknowledged: at most `limit`, and not
/// beyond the `room` left below the slow-start threshold.
#[inline]
pub fn increase(credit: u64, limit: u64, room: u64) -> u64 {
    credit.min(limit).min(room)
}

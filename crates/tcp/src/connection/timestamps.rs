//! The timestamps option (RFC 7323): our clock, the peer's last value, and protection against
//! wrapped sequence numbers.

use airtcp_packet::{SequenceNumber, Timestamps};
use airtcp_units::{Duration, Instant};

use crate::rtt::Echo;

/// Bytes that timestamps take in every segment, padded (RFC 7323 appendix A).
pub const TIMESTAMP_BYTES: u32 = 12;

/// Lifetime of the peer's last value as protection: within that time no clock allowed by RFC 7323
/// §5.4 wraps (§5.5).
const VALID: Duration = Duration::from_secs(24 * 24 * 3600);

/// The clock of our timestamps.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// In nanoseconds.
    tick: u64,
}

/// A connection's timestamp state: compact, so that very many connections fit in memory.
#[derive(Clone, Debug)]
pub struct TimestampState {
    /// Whether we send the option: once the peer's SYN is known, whether both sides offered it.
    pub enabled: bool,
    /// The peer's value to echo (TS.Recent).
    recent: u32,
    /// End of the time in which it distinguishes old segments from new ones.
    recent_until: Unaligned,
    /// The low half of the acknowledgment offset last sent (Last.ACK.sent).
    last_ack_sent: u32,
}

/// A time that needs no room before it to be aligned.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Unaligned(Instant);

impl Unaligned {
    #[inline]
    const fn get(self) -> Instant {
        self.0
    }
}

impl TimestampState {
    pub const fn new(enabled: bool) -> Self {
        Self {
            enabled,
            recent: 0,
            recent_until: Unaligned(Instant::ZERO),
            last_ack_sent: 0,
        }
    }

    /// Records that a segment acknowledging everything below `acknowledged` leaves.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    pub const fn on_ack_sent(&mut self, acknowledged: u64) {
        self.last_ack_sent = acknowledged as u32;
    }

    /// The option to send at `now`, by our `clock`.
    #[inline]
    pub fn option(&self, now: Instant, clock: impl Fn() -> Clock) -> Option<Timestamps> {
        if !self.enabled {
            return None;
        }
        Some(Timestamps {
            value: clock().value(now),
            echo: self.recent,
        })
    }

    /// The peer's value to echo, if the option is sent.
    pub const fn recent(&self) -> Option<u32> {
        if self.enabled {
            Some(self.recent)
        } else {
            None
        }
    }

    /// Whether a segment that arrives at `now` with this option is older than one already received
    /// (RFC 7323 §5.3, R1).
    #[inline]
    pub fn is_old(&self, now: Instant, timestamps: Timestamps) -> bool {
        now < self.recent_until.get()
            && SequenceNumber(timestamps.value).before(SequenceNumber(self.recent))
    }

    /// Stores the value to echo: that of the earliest segment that the next acknowledgment covers
    /// (RFC 7323 §4.3).
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a segment of the window is within 2^31 bytes of the last acknowledgment"
    )]
    pub fn on_segment(&mut self, now: Instant, timestamps: Timestamps, start: u64) {
        let is_later = SequenceNumber(self.last_ack_sent).before(SequenceNumber(start as u32));
        if !is_later && !self.is_old(now, timestamps) {
            self.recent = timestamps.value;
            self.recent_until = Unaligned(now + VALID);
        }
    }
}

impl Clock {
    #[inline]
    pub fn new(tick: Duration) -> Self {
        Self {
            tick: tick.as_nanos().max(1),
        }
    }

    /// Its value at `now`. It starts at one: RFC 7323 §3.2 gives a zero echo no meaning.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the clock wraps (RFC 7323 §5.4)"
    )]
    pub const fn value(self, now: Instant) -> u32 {
        (now.as_nanos() / self.tick + 1) as u32
    }

    /// Interprets an echo that arrives at `now`.
    #[inline]
    pub fn echo(self, now: Instant, timestamps: Timestamps) -> Option<Echo> {
        if timestamps.echo == 0 {
            return None;
        }
        let ticks_now = now.as_nanos() / self.tick + 1;
        let ticks = SequenceNumber(timestamps.echo).expand(ticks_now);
        // An echo from the future is not ours.
        let elapsed = ticks_now.checked_sub(ticks)?;
        Some(Echo {
            sent_at: Instant::from_nanos((ticks - 1) * self.tick),
            rtt: Duration::from_nanos(elapsed * self.tick),
        })
    }
}

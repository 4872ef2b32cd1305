//! The sender's timers, in one table.
//!
//! Timers that watch outstanding data replace each other, as in Linux (`icsk_pending`): one of them
//! runs at a time, for the reason that its name gives. Timers in other slots run independently.

use airtcp_units::Instant;

/// The reason for a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Pacing lets the next burst leave.
    Pace,
    /// Data is outstanding and unanswered for an RTO: a timeout (RFC 6298 §5).
    Retransmission,
    /// The receiver dropped data it had SACKed, unless it acknowledges it now: a timeout too (RFC
    /// 2018 §8; Linux, `tcp_check_sack_reneging`).
    Reneging,
    /// No acknowledgment for two round trips: a probe of the tail (RFC 8985 §7).
    TailProbe,
    /// A possibly late segment is late by more than the reordering window: loss detection runs
    /// (RFC 8985 §6.3).
    ReorderingWindow,
    /// The peer has no room: a zero-window probe (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// A segment that is not full was held back for an RTO with nothing outstanding: it leaves
    /// after all (RFC 9293 §3.8.6.2.1, the override timeout; Linux, `tcp_check_probe_timer` and
    /// `tcp_write_wakeup`, with the probe's timer).
    SmallSegment,
}

/// Timers that replace each other, in the order in which slots are served at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// Sending.
    Pace,
    /// Outstanding data.
    Outstanding,
    /// Data that waits with nothing outstanding: for the peer's window, or for more to send.
    Window,
}

impl Slot {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pace, Self::Outstanding, Self::Window];
}

impl Timer {
    const fn slot(self) -> Slot {
        match self {
            Self::Pace => Slot::Pace,
            Self::Retransmission | Self::Reneging | Self::TailProbe | Self::ReorderingWindow => {
                Slot::Outstanding
            }
            Self::WindowProbe | Self::SmallSegment => Slot::Window,
        }
    }
}

/// The running timers.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    at: [Instant; Slot::ALL.len()],
    timer: [Timer; Slot::ALL.len()],
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            at: [Instant::FAR_FUTURE; Slot::ALL.len()],
            timer: [Timer::Pace, Timer::Retransmission, Timer::WindowProbe],
        }
    }
}

impl Timers {
    /// Sets `timer` to expire at `at`, replacing the one in its slot.
    #[inline]
    pub const fn arm(&mut self, timer: Timer, at: Instant) {
        let slot = timer.slot() as usize;
        self.at[slot] = at;
        self.timer[slot] = timer;
    }

    /// Moves the expiry of the timer in `slot` to `at`.
    #[inline]
    pub const fn move_to(&mut self, slot: Slot, at: Instant) {
        self.at[slot as usize] = at;
    }

    /// Stops the timer in `slot`.
    #[inline]
    pub const fn cancel(&mut self, slot: Slot) {
        self.at[slot as usize] = Instant::FAR_FUTURE;
    }

    /// Expiry of the timer in `slot`; [`Instant::FAR_FUTURE`] if it is not running.
    #[inline]
    pub const fn deadline(&self, slot: Slot) -> Instant {
        self.at[slot as usize]
    }

    /// Whether a timer runs in `slot`.
    #[inline]
    pub fn is_running(&self, slot: Slot) -> bool {
        self.deadline(slot) != Instant::FAR_FUTURE
    }

    /// Whether `timer` runs.
    #[inline]
    pub fn is_armed(&self, timer: Timer) -> bool {
        let slot = timer.slot();
        self.timer[slot as usize] == timer && self.is_running(slot)
    }

    /// The earliest expiry; [`Instant::FAR_FUTURE`] for never.
    #[inline]
    pub fn next(&self) -> Instant {
        let [pace, outstanding, window] = self.at;
        pace.min(outstanding).min(window)
    }

    /// Takes and stops the timer in `slot` if it has expired by `now`.
    #[inline]
    pub fn take_expired(&mut self, slot: Slot, now: Instant) -> Option<Timer> {
        if self.deadline(slot) > now {
            return None;
        }
        self.cancel(slot);
        Some(self.timer[slot as usize])
    }
}

#[cfg(test)]
mod tests {
    use airtcp_units::Duration;

    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    #[test]
    fn timers_of_a_slot_replace_each_other() {
        let mut timers = Timers::default();
        assert_eq!(timers.next(), Instant::FAR_FUTURE);
        timers.arm(Timer::Retransmission, at(300));
        timers.arm(Timer::TailProbe, at(200));
        timers.arm(Timer::WindowProbe, at(250));
        assert!(!timers.is_armed(Timer::Retransmission));
        assert!(timers.is_armed(Timer::TailProbe));
        assert_eq!(timers.next(), at(200));
        timers.cancel(Slot::Outstanding);
        assert!(!timers.is_armed(Timer::TailProbe));
        assert_eq!(timers.next(), at(250));
    }

    #[test]
    fn a_timer_runs_out_once() {
        let mut timers = Timers::default();
        timers.arm(Timer::ReorderingWindow, at(10));
        assert_eq!(timers.take_expired(Slot::Outstanding, at(9)), None);
        assert_eq!(timers.take_expired(Slot::Window, at(10)), None);
        let expired = timers.take_expired(Slot::Outstanding, at(10));
        assert_eq!(expired, Some(Timer::ReorderingWindow));
        assert_eq!(timers.take_expired(Slot::Outstanding, at(11)), None);
        assert_eq!(timers.next(), Instant::FAR_FUTURE);
    }
}

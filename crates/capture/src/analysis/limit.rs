//! The limits of a transfer, and the time spent in each.

use airtcp_units::Duration;

/// Limit of the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The link delivered nothing, and lost nothing.
    Held,
    /// The sender waited for its timer.
    Timeout,
    /// A short segment waited for the acknowledgment of previous data.
    SmallWrites,
    /// The receiver's window.
    ReceiverWindow,
    /// The sender's application had no more data.
    Application,
    /// The link was full.
    Link,
    /// Losses were being repaired.
    Recovery,
    /// The congestion window.
    Window,
}

impl Limit {
    /// Every limit, in the order of the tables.
    pub const ALL: [Self; 8] = [
        Self::Held,
        Self::Timeout,
        Self::SmallWrites,
        Self::ReceiverWindow,
        Self::Application,
        Self::Link,
        Self::Recovery,
        Self::Window,
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Timeout => "timeout",
            Self::SmallWrites => "small_writes",
            Self::ReceiverWindow => "receiver_window",
            Self::Application => "application",
            Self::Link => "link",
            Self::Recovery => "recovery",
            Self::Window => "window",
        }
    }
}

/// The time from the first data to the last answer, by limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    nanos: [u64; Limit::ALL.len()],
    /// The time in which data was in flight, or waited for the receiver's window.
    under_way: Duration,
    /// Periods in which the capture dropped packets: not counted above.
    pub left_out: Duration,
}

impl Shares {
    /// The time spent in `limit`.
    #[must_use]
    pub fn time(&self, limit: Limit) -> Duration {
        Duration::from_nanos(self.nanos[limit as usize])
    }

    /// The whole time.
    #[must_use]
    pub fn whole(&self) -> Duration {
        Duration::from_nanos(self.nanos.iter().sum())
    }

    /// The share of `limit`, from 0 to 1. They sum to 1, unless the time is zero.
    #[must_use]
    pub fn share(&self, limit: Limit) -> f64 {
        self.time(limit).as_secs_f64() / self.whole().as_secs_f64().max(1e-9)
    }

    /// The time in which data was in flight, or waited for the receiver's window, for any limit.
    #[must_use]
    pub fn under_way(&self) -> Duration {
        self.under_way
    }

    /// Attributes time to a limit.
    pub(super) fn add(&mut self, limit: Limit, length: Duration, is_under_way: bool) {
        self.nanos[limit as usize] += length.as_nanos();
        if is_under_way {
            self.under_way += length;
        }
    }
}

//! The time of an emulation, and the machine's help in keeping it.

use std::num::NonZeroU64;

use airtcp_units::Instant;
use rustix::event::Timespec;
use rustix::time::{ClockId, clock_gettime};

/// The monotonic clock, from the start of an emulation.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The system clock's nanoseconds at time zero.
    zero: u64,
}

impl Clock {
    /// Starts a clock at zero.
    pub fn start() -> Self {
        Self { zero: monotonic() }
    }

    /// The current time.
    pub fn now(self) -> Instant {
        Instant::from_nanos(monotonic().saturating_sub(self.zero))
    }
}

fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// The time to wait from `now` until `wakeup`; `None` for ever.
pub fn wait(now: Instant, wakeup: Instant) -> Option<Timespec> {
    if wakeup == Instant::FAR_FUTURE {
        return None;
    }
    let nanos = wakeup.as_nanos().saturating_sub(now.as_nanos());
    Some(Timespec {
        tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(nanos % 1_000_000_000).unwrap_or(0),
    })
}

/// Asks the kernel to wake this thread on time, without the default slack of 50 µs (prctl(2),
/// `PR_SET_TIMERSLACK`), and before ordinary programs (`SCHED_FIFO`), which unprivileged users may
/// not be allowed. If the kernel refuses, wake-ups are a little later, and the measured lateness
/// shows it.
pub fn wake_in_time() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    // The kernel's struct sched_param; musl's has more, and its function never asks the kernel.
    let lowest: libc::c_int = 1;
    // Threads and programs started from here remain ordinary ones.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the kernel reads `lowest`; zero is the calling thread.
    #[expect(unsafe_code, reason = "no library of ours wraps sched_setscheduler")]
    let _ = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const lowest) };
}

/// Time since boot, suspended time included.
pub fn boot_time_ns() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The system clock, in nanoseconds since the start of 1970.
pub fn since_1970() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

//! The time of an emulation, and the kernel settings to keep it.

use std::num::NonZeroU64;

use airtcp_units::{Duration, Instant};
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

/// The time to wait from `now` until `wakeup`; `None` for no limit.
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

/// Time before a deadline during which an ordinary thread stays awake: the duration of the kernel's
/// timers and a wake-up on an idle machine.
const AWAKE_BEFORE: Duration = Duration::from_micros(60);
/// The time slice that an ordinary thread requests, in nanoseconds: the minimum.
const SLICE: u64 = 100_000;

/// Scheduling of a thread for its deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waking {
    /// It takes precedence over every ordinary program.
    First,
    /// It is an ordinary thread, with a short slice.
    Ordinary,
}

impl Waking {
    /// The time until which to sleep for an event due at `wakeup`: an ordinary thread wakes up
    /// earlier, and polls. A thread that sleeps up to the deadline is late by its wake-up; one that
    /// always polls has used up its share of the processor when it matters.
    pub fn sleep_until(self, wakeup: Instant) -> Instant {
        match self {
            Self::First => wakeup,
            Self::Ordinary if wakeup == Instant::FAR_FUTURE => wakeup,
            Self::Ordinary => {
                Instant::from_nanos(wakeup.as_nanos().saturating_sub(AWAKE_BEFORE.as_nanos()))
            }
        }
    }
}

/// Asks the kernel to wake this thread on time, without the default slack of 50 µs (prctl(2),
/// `PR_SET_TIMERSLACK`), and before ordinary programs (`SCHED_FIFO`). Unprivileged users get the
/// shortest slice: among runnable threads, Linux 6.12 and later run the one with the earliest
/// virtual deadline, which is its slice away (sched_setattr(2), `sched_runtime`). If the kernel
/// refuses all, wake-ups are slightly later, and the measured lateness shows it.
pub fn wake_in_time() -> Waking {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    // The kernel's struct sched_param; musl's has more, and its function never asks the kernel.
    let lowest: libc::c_int = 1;
    // Threads and programs started from here remain ordinary ones.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the kernel reads `lowest`; zero is the calling thread.
    #[expect(unsafe_code, reason = "no library of ours wraps sched_setscheduler")]
    let refused =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const lowest) };
    if refused == 0 {
        return Waking::First;
    }
    ask_for_short_slices();
    Waking::Ordinary
}

/// Requests a short slice only: the niceness stays. Programs started from here have the default
/// slice.
fn ask_for_short_slices() {
    // SCHED_FLAG_RESET_ON_FORK of `linux/sched.h`.
    const RESET_ON_FORK: u64 = 1;
    /// The kernel's struct sched_attr, in its first version.
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        policy: libc::SCHED_OTHER.cast_unsigned(),
        flags: RESET_ON_FORK,
        nice: rustix::process::getpriority_process(None).unwrap_or(0),
        priority: 0,
        runtime: SLICE,
        deadline: 0,
        period: 0,
    };
    // SAFETY: the kernel reads `attributes`, which contains its size; the first zero is the calling
    // thread, the last one no flags.
    #[expect(unsafe_code, reason = "no library of ours wraps sched_setattr")]
    let _ = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_thread_is_awake_before_its_deadline() {
        let due = Instant::ZERO + Duration::from_millis(5);
        assert_eq!(Waking::First.sleep_until(due), due);
        let awake = Waking::Ordinary.sleep_until(due);
        assert_eq!(due - awake, AWAKE_BEFORE);
        assert_eq!(Waking::Ordinary.sleep_until(Instant::ZERO), Instant::ZERO);
        let never = Instant::FAR_FUTURE;
        assert_eq!(Waking::Ordinary.sleep_until(never), never);
    }

    /// The kernel accepts and reports the slice (Linux 6.12 and later), in a separate thread.
    #[test]
    fn a_short_slice_is_asked_for() {
        let told = std::thread::spawn(|| {
            ask_for_short_slices();
            let mut words = [0_u64; 6];
            // SAFETY: the kernel writes at most 48 bytes, the size of `words`.
            #[expect(unsafe_code, reason = "no library of ours wraps sched_getattr")]
            let failed =
                unsafe { libc::syscall(libc::SYS_sched_getattr, 0, words.as_mut_ptr(), 48, 0) };
            assert_eq!(failed, 0);
            words[3]
        });
        let runtime = told.join().unwrap();
        if runtime == 0 {
            airtcp_needs::skip("this kernel has no slices for ordinary threads");
            return;
        }
        assert_eq!(runtime, SLICE);
    }
}

//! Two threads that supervise the gateway: one releases everything if the gateway hangs, and one
//! checks that its rules and queues are still installed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle, park_timeout};
use std::time;

use airtcp_host::clock::Clock;
use airtcp_host::error::{Result, Tried};
use airtcp_units::Duration;
use tracing::{error, warn};

use crate::rules::Rules;
use crate::sockets::nfqueue::Rescuer;

/// The exit status of a process that has released everything because packets were late.
pub const LATE: i32 = 3;
/// Number of times that the watchdog looks within the time that a round may take.
const LOOKS: u64 = 4;
/// Interval between checks of rules and queues.
const LOOK: time::Duration = time::Duration::from_secs(10);

/// Liveness of the gateway's thread.
#[derive(Debug, Default)]
pub struct Pulse {
    /// Time of its last round, in nanoseconds of its clock.
    beat: AtomicU64,
    /// The number of the last packet.
    last: AtomicU64,
    ended: AtomicBool,
    /// Number of times the rules had to be rewritten.
    rewritten: AtomicU64,
}

impl Pulse {
    /// Records a round at `now` nanoseconds; packet `last` has arrived.
    pub fn beat(&self, now: u64, last: u64) {
        self.beat.store(now, Ordering::Relaxed);
        self.last.store(last, Ordering::Relaxed);
    }

    /// Number of times the rules had to be rewritten.
    pub fn rewritten(&self) -> u64 {
        self.rewritten.load(Ordering::Relaxed)
    }
}

/// The threads. They end with this value.
#[derive(Debug)]
pub struct Watchdog {
    pulse: Arc<Pulse>,
    threads: Vec<JoinHandle<()>>,
}

impl Watchdog {
    /// Supervises a gateway with rounds within `late`, and with these rules.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        pulse: Arc<Pulse>,
        clock: Clock,
        late: Duration,
        rescuer: Rescuer,
        rules: Rules,
    ) -> Result<Self> {
        let watched = Arc::clone(&pulse);
        let release = Builder::new()
            .name("watchdog".to_owned())
            .spawn(move || watch(&watched, clock, late, &rescuer))
            .tried(|| "cannot start the watchdog".to_owned())?;
        let kept = Arc::clone(&pulse);
        let keeper = Builder::new()
            .name("rules".to_owned())
            .spawn(move || keep(&kept, &rules))
            .tried(|| "cannot start a thread for the rules".to_owned())?;
        Ok(Self {
            pulse,
            threads: vec![release, keeper],
        })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.pulse.ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A panicked thread no longer watches, which is the purpose here.
            let _ = thread.join();
        }
    }
}

fn watch(pulse: &Pulse, clock: Clock, late: Duration, rescuer: &Rescuer) {
    let pause = time::Duration::from_nanos(late.as_nanos() / LOOKS);
    let (mut last, mut looks) = (0, 0);
    while !pulse.ended.load(Ordering::Relaxed) {
        park_timeout(pause);
        let beat = pulse.beat.load(Ordering::Relaxed);
        // A machine that stops, stops this thread too: it has looked often, and not only long ago.
        looks = if beat == last { looks + 1 } else { 0 };
        last = beat;
        let silent = clock.now().as_nanos().saturating_sub(beat);
        let is_late = silent > late.as_nanos() && looks >= LOOKS;
        if is_late && !pulse.ended.load(Ordering::Relaxed) {
            rescuer.release(pulse.last.load(Ordering::Relaxed));
            error!(
                silent_ms = silent / 1_000_000,
                "the gateway hangs: everything is released"
            );
            // The guard removes the rules when this process is gone.
            std::process::exit(LATE);
        }
    }
}

/// Checks regularly that rules and queues are installed. Rewrites missing rules: a reloaded
/// firewall removes them.
fn keep(pulse: &Pulse, rules: &Rules) {
    loop {
        park_timeout(LOOK);
        if pulse.ended.load(Ordering::Relaxed) {
            return;
        }
        if rules.are_installed() {
            continue;
        }
        // Since the check, the gateway may have ended and removed them itself.
        if pulse.ended.load(Ordering::Relaxed) {
            return;
        }
        pulse.rewritten.fetch_add(1, Ordering::Relaxed);
        match rules.write_again() {
            Ok(()) => warn!("the rules were gone, and are written again"),
            Err(error) => warn!(%error, "the rules are gone; packets pass by"),
        }
    }
}

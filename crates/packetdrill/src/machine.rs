//! The threads of packetdrill: one for the call that may block, and one for everything else.

use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

use airtcp_script::posix::{Outcome, Sockets};
use airtcp_units::{Duration, Instant};

use crate::system::Namespace;
use crate::world::{Answer, MAX, World};

/// Duration of a clock query: packetdrill polls until the time has come.
const A_LOOK: Duration = Duration::from_micros(1);
/// Real time allowed for the thread of a returned call to report it.
const TO_RETURN: std::time::Duration = std::time::Duration::from_millis(2);
/// Time zero, since packetdrill takes day 0 for no time.
const EPOCH_SECONDS: u64 = 1_000_000_000;

thread_local! {
    /// When this thread's call returned; `None` once the thread has read it.
    static RETURNED_AT: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// A single one per process.
pub static MACHINE: OnceLock<Machine> = OnceLock::new();

/// The machine of this process, with a default local address.
pub fn machine() -> &'static Machine {
    MACHINE.get_or_init(|| Machine::new(Ipv4Addr::LOCALHOST.into()))
}

/// The world, shared by both threads.
pub struct Machine {
    world: Mutex<World>,
    returned: Condvar,
    /// The thread that never waits for another.
    main: ThreadId,
}

impl Machine {
    /// Creates a machine with an endpoint at this address.
    pub fn new(local: IpAddr) -> Self {
        Self {
            world: Mutex::new(World::new(local)),
            returned: Condvar::new(),
            main: std::thread::current().id(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that does not block.
    pub fn call<T>(&self, act: impl FnOnce(&mut Sockets<Namespace>) -> T) -> T {
        let mut world = self.lock();
        let answer = act(&mut world.sockets);
        world.settle();
        self.returned.notify_all();
        answer
    }

    /// A call that waits for its result.
    pub fn wait(
        &self,
        mut attempt: impl FnMut(&mut World) -> Outcome<isize> + Send + 'static,
    ) -> Answer {
        let mut world = self.lock();
        let answer = attempt(&mut world);
        world.settle();
        if let Outcome::Ready(answer) = answer {
            return answer;
        }
        if std::thread::current().id() == self.main {
            return world.wait_here(attempt);
        }
        world.waits = Some(Box::new(attempt));
        loop {
            world = self
                .returned
                .wait(world)
                .unwrap_or_else(PoisonError::into_inner);
            if let Some((at, answer)) = world.returns.take() {
                RETURNED_AT.set(Some(at));
                return answer;
            }
        }
    }

    /// As [`wait`](Self::wait), but at most until an instant: then the result is 0.
    pub fn wait_until(
        &self,
        until: Instant,
        mut attempt: impl FnMut(&mut World) -> Outcome<isize> + Send + 'static,
    ) -> Answer {
        self.lock().alarm = until;
        let answer = self.wait(move |world| match attempt(world) {
            Outcome::Pending if world.sockets.now >= until => Outcome::Ready(Ok(0)),
            outcome => outcome,
        });
        self.lock().alarm = Instant::FAR_FUTURE;
        answer
    }

    /// The end of a wait of `millis` milliseconds; a negative one never ends.
    pub fn deadline(&self, millis: i32) -> Instant {
        match u64::try_from(millis) {
            Ok(millis) => self.lock().sockets.now + Duration::from_millis(millis),
            Err(_) => Instant::FAR_FUTURE,
        }
    }

    /// A question that changes nothing.
    pub fn ask<T>(&self, question: impl FnOnce(&Sockets<Namespace>) -> T) -> T {
        question(&self.lock().sockets)
    }

    /// Handles a packet that arrives.
    pub fn arrive(&self, packet: &[u8]) {
        let mut world = self.lock();
        let now = world.sockets.now;
        let _ = world.sockets.endpoint.handle_packet(now, packet);
        world.settle();
        self.returned.notify_all();
    }

    /// The next packet that leaves, and its time; `None` if no packet will ever leave.
    pub fn depart(&self) -> Option<(Instant, Vec<u8>)> {
        let mut world = self.lock();
        let until = world.sockets.now + MAX;
        while world.sent.is_empty() {
            let next = world.next_wakeup();
            if next > until {
                break;
            }
            world.advance(next);
            self.returned.notify_all();
        }
        world.sent.pop_front()
    }

    /// Lets time pass.
    pub fn sleep(&self, time: Duration) {
        let mut world = self.lock();
        let until = world.sockets.now + time;
        world.advance(until);
        let has_returned = std::mem::take(&mut world.has_returned);
        self.returned.notify_all();
        drop(world);
        if has_returned {
            std::thread::sleep(TO_RETURN);
        }
    }

    /// The clock in microseconds: for a call that has just returned, its return time.
    pub fn look_at_clock(&self) -> u64 {
        let at = RETURNED_AT.take().unwrap_or_else(|| {
            let mut world = self.lock();
            let now = world.sockets.now + A_LOOK;
            world.advance(now);
            self.returned.notify_all();
            now
        });
        micros(at)
    }
}

/// An instant in packetdrill's units.
pub const fn micros(at: Instant) -> u64 {
    EPOCH_SECONDS * 1_000_000 + at.as_nanos() / 1000
}

//! The state of the interface: the sockets, transmitted packets, and the blocked call.

use std::collections::VecDeque;
use std::net::IpAddr;

use airtcp_endpoint::Settings;
use airtcp_script::posix::{Errno, Outcome, Sockets};
use airtcp_units::{Duration, Instant};

use crate::system::Namespace;

/// The result of a call: a number, or an error.
pub type Answer = Result<isize, Errno>;

/// A blocked call: it is retried until there is a result.
type Attempt = Box<dyn FnMut(&mut World) -> Outcome<isize> + Send>;

/// 64 KiB minus IPv6 and all headers.
const LARGEST_BURST: u16 = 65_000;
/// Longest wait of the main thread for an event that may never come: a connection has given up by
/// then.
pub const MAX: Duration = Duration::from_secs(1000);

/// The state used by all calls.
pub struct World {
    pub sockets: Sockets<Namespace>,
    pub sent: VecDeque<(Instant, Vec<u8>)>,
    pub waits: Option<Attempt>,
    /// Time and result of the return of the blocked call.
    pub returns: Option<(Instant, Answer)>,
    /// Whether that call returned and its thread has not yet had time to report it.
    pub has_returned: bool,
    /// End of the wait, for a call with a timeout.
    pub alarm: Instant,
}

impl World {
    /// An endpoint with this address, at time zero.
    pub fn new(local: IpAddr) -> Self {
        let settings = Settings {
            // packetdrill sees the packets of a kernel for a device with segmentation offload.
            largest_burst: LARGEST_BURST,
            bursts_are_trains: true,
            ..Settings::new([7; 16])
        };
        Self {
            sockets: Sockets::new(Namespace, settings, local),
            sent: VecDeque::new(),
            waits: None,
            returns: None,
            has_returned: false,
            alarm: Instant::FAR_FUTURE,
        }
    }

    /// Advances time, with all events until then.
    pub fn advance(&mut self, until: Instant) {
        loop {
            let next = self.next_wakeup();
            if next > until {
                break;
            }
            let now = self.sockets.now.max(next);
            self.sockets.now = now;
            self.sockets.endpoint.on_wakeup(now);
            self.settle();
            if self.alarm <= now {
                self.alarm = Instant::FAR_FUTURE;
            }
        }
        self.sockets.now = self.sockets.now.max(until);
        self.settle();
    }

    pub fn next_wakeup(&self) -> Instant {
        self.sockets.endpoint.next_wakeup().min(self.alarm)
    }

    /// Handles the effects of an event: packets leave, and a blocked call may return.
    pub fn settle(&mut self) {
        self.drain();
        if let Some(mut attempt) = self.waits.take() {
            match attempt(self) {
                Outcome::Ready(answer) => {
                    self.returns = Some((self.sockets.now, answer));
                    self.has_returned = true;
                    self.drain();
                }
                Outcome::Pending => self.waits = Some(attempt),
            }
        }
    }

    fn drain(&mut self) {
        let now = self.sockets.now;
        let mut packet = Vec::new();
        let endpoint = &mut self.sockets.endpoint;
        while endpoint.poll_transmit(now, &mut packet).is_some() {
            self.sent.push_back((now, std::mem::take(&mut packet)));
        }
        self.sockets.look();
    }

    /// Waits in the thread that advances time.
    pub fn wait_here(&mut self, mut attempt: impl FnMut(&mut World) -> Outcome<isize>) -> Answer {
        let until = self.sockets.now + MAX;
        loop {
            if let Outcome::Ready(answer) = attempt(self) {
                self.settle();
                return answer;
            }
            let next = self.next_wakeup();
            if next > until {
                return Err(Errno::EDEADLK);
            }
            self.advance(next);
        }
    }
}

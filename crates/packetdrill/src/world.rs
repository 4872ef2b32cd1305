//! The state of the interface: the endpoint, its sockets, its transmitted packets, and the blocked
//! call.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::IntoRawFd;

use airtcp_endpoint::{ConnectionId, Endpoint, Settings};
use airtcp_tcp::End;
use airtcp_units::{Duration, Instant};

use crate::socket::{Kind, Socket};

/// The result of a call: a number, or an errno.
pub type Answer = Result<isize, i32>;

/// A blocked call: it is retried until there is a result.
type Attempt = Box<dyn FnMut(&mut World) -> Option<Answer> + Send>;

/// 64 KiB minus IPv6 and all headers.
const LARGEST_BURST: u16 = 65_000;
/// Longest wait of the main thread for an event that may never come: a connection has given up by
/// then.
pub const MAX: Duration = Duration::from_secs(1000);

/// The state used by all calls.
pub struct World {
    pub now: Instant,
    pub endpoint: Endpoint,
    pub sockets: BTreeMap<i32, Socket>,
    /// The local address, if a socket is not bound.
    pub local: IpAddr,
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
            now: Instant::ZERO,
            endpoint: Endpoint::new(settings),
            sockets: BTreeMap::new(),
            local,
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
            self.now = self.now.max(next);
            let now = self.now;
            self.endpoint.on_wakeup(now);
            self.settle();
            if self.alarm <= now {
                self.alarm = Instant::FAR_FUTURE;
            }
        }
        self.now = self.now.max(until);
        self.settle();
    }

    pub fn next_wakeup(&self) -> Instant {
        self.endpoint.next_wakeup().min(self.alarm)
    }

    /// Handles the effects of an event: packets leave, and a blocked call may return.
    pub fn settle(&mut self) {
        self.drain();
        if let Some(mut attempt) = self.waits.take() {
            match attempt(self) {
                Some(answer) => {
                    self.returns = Some((self.now, answer));
                    self.has_returned = true;
                    self.drain();
                }
                None => self.waits = Some(attempt),
            }
        }
    }

    fn drain(&mut self) {
        let mut packet = Vec::new();
        while self.endpoint.poll_transmit(self.now, &mut packet).is_some() {
            self.sent.push_back((self.now, std::mem::take(&mut packet)));
        }
        // A waiting thread polls the readiness itself.
        while self.endpoint.next_event().is_some() {}
        for socket in self.sockets.values_mut() {
            if let Kind::Connection(id) = socket.kind
                && let Some(stream) = self.endpoint.stream(id)
            {
                socket.stopwatch.look(self.now, stream.connection());
                let received = stream.connection().receiver().received();
                if received != socket.received.0 {
                    socket.received = (received, self.now);
                }
            }
        }
    }

    /// Waits in the thread that advances time.
    pub fn wait_here(&mut self, mut attempt: impl FnMut(&mut World) -> Option<Answer>) -> Answer {
        let until = self.now + MAX;
        loop {
            if let Some(answer) = attempt(self) {
                self.settle();
                return answer;
            }
            let next = self.next_wakeup();
            if next > until {
                return Err(libc::EDEADLK);
            }
            self.advance(next);
        }
    }

    /// A new descriptor. It is a placeholder of the system's: packetdrill itself closes descriptors
    /// left open by a script.
    pub fn open(&mut self, socket: Socket) -> Result<isize, i32> {
        let file = File::open("/dev/null").map_err(|_| libc::EMFILE)?;
        let descriptor = file.into_raw_fd();
        self.sockets.insert(descriptor, socket);
        Ok(descriptor as isize)
    }

    pub fn socket(&mut self, descriptor: i32) -> Result<&mut Socket, i32> {
        self.sockets.get_mut(&descriptor).ok_or(libc::EBADF)
    }

    /// The connection of a socket that has one.
    pub fn connection(&mut self, descriptor: i32) -> Result<ConnectionId, i32> {
        match self.socket(descriptor)?.kind {
            Kind::Connection(id) => Ok(id),
            Kind::Epoll(_) => Err(libc::ENOTSOCK),
            Kind::Fresh | Kind::Listens(_) => Err(libc::ENOTCONN),
        }
    }

    /// The error with which a connection ended (Linux, `tcp_reset`, `tcp_write_err`).
    pub fn end(&self, id: ConnectionId) -> Option<i32> {
        let stream = self.endpoint.stream(id)?;
        match stream.connection().end()? {
            End::Reset if stream.connection().receiver().is_finished() => Some(libc::EPIPE),
            End::Reset => Some(libc::ECONNRESET),
            End::Refused => Some(libc::ECONNREFUSED),
            End::TimedOut => Some(libc::ETIMEDOUT),
            End::Orderly | End::Aborted => None,
        }
    }

    /// The error with which a connection ended, reported only once.
    pub fn take_end(&mut self, descriptor: i32) -> Option<i32> {
        let id = self.connection(descriptor).ok()?;
        let end = self.end(id)?;
        let socket = self.sockets.get_mut(&descriptor)?;
        (!std::mem::replace(&mut socket.told_of_end, true)).then_some(end)
    }
}

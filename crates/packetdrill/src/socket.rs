//! Descriptors and what is behind them.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::os::fd::IntoRawFd;

use airtcp_endpoint::{ConnectionId, ListenerId, Options};
use airtcp_script::stopwatch::Stopwatch;
use airtcp_tcp::End;
use airtcp_units::Instant;

use crate::fast_open_options::FastOpenOptions;
use crate::machine::World;
use crate::readiness::Watched;

/// What a descriptor stands for.
pub enum Kind {
    /// A socket that is neither open nor listening.
    Fresh,
    Listens(ListenerId),
    Connection(ConnectionId),
    /// What epoll watches, by descriptor.
    Epoll(BTreeMap<i32, Watched>),
}

/// The part of a socket's state that the endpoint does not hold.
pub struct Socket {
    pub kind: Kind,
    pub options: Options,
    pub bound: Option<SocketAddr>,
    pub backlog: i32,
    pub non_blocking: bool,
    pub reads_shut: bool,
    pub writes_shut: bool,
    pub corked: bool,
    /// SO_LINGER, if it is on: seconds.
    pub linger: Option<i32>,
    /// TCP_INQ.
    pub tells_queue: bool,
    /// The requested TCP_MAXSEG.
    pub wanted_mss: Option<i32>,
    /// TCP_NOTSENT_LOWAT.
    pub not_sent_low_water: u32,
    /// Whether the connection's final error was reported; it is reported only once.
    pub told_of_end: bool,
    /// Times for `TCP_INFO`, and the amount and time of the last arrival that was noticed.
    pub stopwatch: Stopwatch,
    pub received: (u64, Instant),
    pub fast_open: FastOpenOptions,
}

impl Socket {
    pub fn new(kind: Kind, options: Options, non_blocking: bool) -> Self {
        Self {
            kind,
            options,
            bound: None,
            backlog: 0,
            non_blocking,
            reads_shut: false,
            writes_shut: false,
            corked: false,
            linger: None,
            tells_queue: false,
            wanted_mss: None,
            not_sent_low_water: 0,
            told_of_end: false,
            stopwatch: Stopwatch::default(),
            received: (0, Instant::ZERO),
            fast_open: FastOpenOptions::default(),
        }
    }

    /// Whether a call with these flags of sendto and its relatives may wait.
    pub const fn waits(&self, flags: i32) -> bool {
        !self.non_blocking && flags & libc::MSG_DONTWAIT == 0
    }
}

impl World {
    /// A new descriptor. It is one of the system's, of nothing: packetdrill closes those that a
    /// script leaves open itself.
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

    /// The same, once.
    pub fn take_end(&mut self, descriptor: i32) -> Option<i32> {
        let id = self.connection(descriptor).ok()?;
        let end = self.end(id)?;
        let socket = self.sockets.get_mut(&descriptor)?;
        (!std::mem::replace(&mut socket.told_of_end, true)).then_some(end)
    }
}

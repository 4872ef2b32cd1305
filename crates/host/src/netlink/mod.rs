//! netlink(7): a connection to a part of the kernel, its requests and answers.
//!
//! [`frame`] writes and reads messages and their attributes. Users need a dozen messages of a few
//! families: the crates with every message of one took 4 % of a cold build.

pub mod frame;
pub mod route;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NLMSG_NOOP, NLMSG_OVERRUN,
};
use rustix::io::retry_on_intr;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, sendto,
    socket_with,
};

/// A part of the kernel that speaks netlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// rtnetlink(7): devices, addresses, routes, queueing disciplines.
    Route,
    /// sock_diag(7): sockets.
    SockDiag,
    /// nf_tables and the packet queue.
    Netfilter,
    /// Families that are numbered at run time, such as nl80211.
    Generic,
}

impl Part {
    const fn protocol(self) -> Option<Protocol> {
        match self {
            // NETLINK_ROUTE is zero.
            Self::Route => None,
            Self::SockDiag => Some(netlink::SOCK_DIAG),
            Self::Netfilter => Some(netlink::NETFILTER),
            Self::Generic => Some(netlink::GENERIC),
        }
    }
}

/// A connection to a part of the kernel in the namespace of the thread that opened it.
#[derive(Debug)]
pub struct Connection(OwnedFd);

/// An answer of the kernel: its kind, and the bytes after netlink's header.
pub type Answer = (u16, Vec<u8>);

impl Connection {
    /// Connects to `part`, in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The kernel lacks that part.
    pub fn open(part: Part) -> io::Result<Self> {
        Self::with_flags(part, SocketFlags::empty())
    }

    /// As [`open`](Self::open), for a socket that never waits.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_nonblocking(part: Part) -> io::Result<Self> {
        Self::with_flags(part, SocketFlags::NONBLOCK)
    }

    fn with_flags(part: Part, flags: SocketFlags) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | flags;
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            flags,
            part.protocol(),
        )?;
        // The kernel assigns the port.
        bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        Ok(Self(socket))
    }

    /// Another handle of the same connection.
    ///
    /// # Errors
    ///
    /// The process has no descriptor left.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(rustix::io::fcntl_dupfd_cloexec(&self.0, 0)?))
    }

    /// Sends messages.
    ///
    /// # Errors
    ///
    /// The kernel does not accept them.
    pub fn send(&self, messages: &[u8]) -> io::Result<()> {
        let kernel = SocketAddrNetlink::new(0, 0);
        sendto(&self.0, messages, SendFlags::empty(), &kernel)?;
        Ok(())
    }

    /// Receives a datagram of any length.
    ///
    /// # Errors
    ///
    /// The kernel has lost messages, or the connection does not wait and has no message.
    pub fn receive(&self) -> io::Result<Vec<u8>> {
        let peek = RecvFlags::PEEK | RecvFlags::TRUNC;
        let read = |buffer: &mut [u8], flags| retry_on_intr(|| recv(&self.0, &mut *buffer, flags));
        let (_, length) = read(&mut [], peek)?;
        let mut datagram = vec![0; length];
        let (length, _) = read(&mut datagram, RecvFlags::empty())?;
        datagram.truncate(length);
        Ok(datagram)
    }

    /// Sends a request of this kind and returns all answers. `flags` are added to every request's:
    /// [`NLM_F_DUMP`] for all objects of a kind, [`NLM_F_ACK`] for a change, 0 for one object.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    pub fn exchange(&self, kind: u16, flags: u16, body: &[u8]) -> io::Result<Vec<Answer>> {
        let mut request = Vec::new();
        frame::append_message(&mut request, kind, NLM_F_REQUEST | flags, 1, |bytes| {
            bytes.extend(body);
        });
        self.send(&request)?;
        let ends_with_answer = flags & (NLM_F_DUMP | NLM_F_ACK) == 0;
        let mut answers = Vec::new();
        loop {
            for message in frame::messages(&self.receive()?) {
                match message.kind {
                    // Old kernels send no code here.
                    NLMSG_DONE if message.body.is_empty() => return Ok(answers),
                    NLMSG_DONE => return error_of(message.body).map(|()| answers),
                    NLMSG_ERROR => return error_of(message.body).map(|()| answers),
                    NLMSG_NOOP => {}
                    NLMSG_OVERRUN => return Err(io::Error::other("the kernel lost an answer")),
                    kind => answers.push((kind, message.body.to_vec())),
                }
            }
            if ends_with_answer && !answers.is_empty() {
                return Ok(answers);
            }
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The error in the body of an NLMSG_ERROR, which also reports success.
///
/// # Errors
///
/// The kernel's error, or a truncated message.
pub fn error_of(body: &[u8]) -> io::Result<()> {
    match frame::word(body, 0).map(u32::cast_signed) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        None => Err(io::Error::other("the kernel's answer is truncated")),
    }
}

//! Messages between a proxy and its successor: JSON, accompanied by open descriptors (unix(7),
//! SCM_RIGHTS).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use airtcp_host::error::{Error, Result, Tried};
use rustix::cmsg_space;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
    accept_with, bind, connect, listen, recvmsg, sendmsg, socket_with,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An abstract name in the network namespace, which vanishes with the process.
const NAME: &str = "airtcp-proxy-successor/";
/// Limit on the descriptors of a message: two sockets and two pipes, or listeners and a lock.
const DESCRIPTORS: usize = 8;
/// Limit on a message, in bytes.
const MAX: usize = 1 << 12;
/// Timeout of each message: the other process has nothing else to do.
const PATIENCE: Duration = Duration::from_secs(5);

/// One end of the conversation.
#[derive(Debug)]
pub struct Channel(OwnedFd);

/// Listens for this process's successor.
///
/// # Errors
///
/// The system has no sockets left.
pub fn listener() -> Result<OwnedFd> {
    let made = || -> rustix::io::Result<OwnedFd> {
        let socket = socket(SocketFlags::NONBLOCK)?;
        bind(&socket, &address(std::process::id())?)?;
        listen(&socket, 1)?;
        Ok(socket)
    };
    made().tried(|| "cannot make a socket for a successor".to_owned())
}

impl Channel {
    /// Accepts a successor: only a process of the same user, or root, gets the connections.
    pub fn accept(listener: &OwnedFd) -> Option<Self> {
        let channel = Self(accept_with(listener, SocketFlags::CLOEXEC).ok()?);
        let peer = socket_peercred(&channel.0).ok()?;
        let is_ours = peer.uid == rustix::process::geteuid() || peer.uid.is_root();
        channel.limit().ok()?;
        is_ours.then_some(channel)
    }

    /// Connects to the proxy of that process, in this network namespace.
    ///
    /// # Errors
    ///
    /// There is no such proxy.
    pub fn connect(process: u32) -> Result<Self> {
        let made = || -> rustix::io::Result<OwnedFd> {
            let socket = socket(SocketFlags::empty())?;
            connect(&socket, &address(process)?)?;
            Ok(socket)
        };
        let socket = made().map_err(|cause| {
            Error::system(
                format!("--take-over {process}: no proxy of that process"),
                cause,
            )
            .remedied_by("airtcp proxy --status lists those of this network namespace")
        })?;
        let channel = Self(socket);
        channel
            .limit()
            .tried(|| "cannot talk to the proxy".to_owned())?;
        Ok(channel)
    }

    /// Sends a message with descriptors, which stay open here.
    ///
    /// # Errors
    ///
    /// The other process is gone or does not read.
    pub fn send(&self, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors))
        {
            return Err(io::Error::other("too many descriptors"));
        }
        let parts = [IoSlice::new(&text)];
        let sent = sendmsg(&self.0, &parts, &mut ancillary, SendFlags::NOSIGNAL)?;
        if sent == text.len() {
            Ok(())
        } else {
            Err(io::Error::other("a message was cut"))
        }
    }

    /// Receives a message and its descriptors.
    ///
    /// # Errors
    ///
    /// The other process is gone, silent, or sends something else.
    pub fn receive<T: DeserializeOwned>(&self) -> io::Result<(T, Vec<OwnedFd>)> {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = [0; MAX];
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let got = recvmsg(&self.0, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(more) = message {
                descriptors.extend(more);
            }
        }
        if got.bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if got
            .flags
            .intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC)
        {
            return Err(io::Error::other("a message or its descriptors were cut"));
        }
        Ok((serde_json::from_slice(&bytes[..got.bytes])?, descriptors))
    }

    /// Waits until the other process has closed its end.
    pub fn await_end(&self) {
        // An error is an end as well.
        let _ = self.receive::<()>();
    }

    fn limit(&self) -> rustix::io::Result<()> {
        set_socket_timeout(&self.0, Timeout::Send, Some(PATIENCE))?;
        set_socket_timeout(&self.0, Timeout::Recv, Some(PATIENCE))
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn socket(flags: SocketFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

fn address(process: u32) -> rustix::io::Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(format!("{NAME}{process}").as_bytes())
}

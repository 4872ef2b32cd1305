//! Reads, writes, shuts and closes sockets (send(2), recv(2), shutdown(2), close(2)).

use std::net::SocketAddr;
use std::task::Poll;

use airtcp_endpoint::{Linger, Read};
use airtcp_tcp::State;
use airtcp_units::Duration;

use super::constants::{
    MSG_DONTWAIT, MSG_EOR, MSG_FASTOPEN, MSG_MORE, MSG_OOB, MSG_PEEK, MSG_ZEROCOPY, SHUT_RD,
    SHUT_RDWR, SHUT_WR,
};
use super::errno::Errno;
use super::socket::Kind;
use super::table::{Descriptor, Outcome, Sockets, System};

/// A write, with its progress if it has to wait.
#[derive(Clone, Debug)]
pub struct Outgoing {
    bytes: Vec<u8>,
    flags: i32,
    /// The address, if it opens the connection.
    to: Result<SocketAddr, Errno>,
    written: usize,
    has_begun: bool,
}

impl Outgoing {
    /// A write of `bytes` with the flags of send(2), `to` an address if it opens the connection.
    #[must_use]
    pub const fn new(bytes: Vec<u8>, flags: i32, to: Result<SocketAddr, Errno>) -> Self {
        Self {
            bytes,
            flags,
            to,
            written: 0,
            has_begun: false,
        }
    }
}

fn ready<T>(error: Errno) -> Outcome<T> {
    Poll::Ready(Err(error))
}

impl<S: System> Sockets<S> {
    /// Reads into `into` with the flags of recv(2); zero bytes are the end.
    ///
    /// # Errors
    /// ENOTCONN without a connection, EAGAIN without data if the socket does not block, and the
    /// error with which the connection ended.
    pub fn read(&mut self, descriptor: Descriptor, into: &mut [u8], flags: i32) -> Outcome<usize> {
        let socket = self.socket(descriptor)?;
        let id = match self.connection(descriptor) {
            Ok(id) => id,
            Err(Errno::ENOTCONN) if socket.fast_open.deferred.is_some() => {
                return ready(Errno::EAGAIN);
            }
            Err(error) => return ready(error),
        };
        if flags & MSG_PEEK != 0
            && let Some(stream) = self.endpoint.stream(id)
            && stream.available() > 0
        {
            let mut copied = 0;
            for piece in stream.peek() {
                let count = piece.len().min(into.len() - copied);
                into[copied..copied + count].copy_from_slice(&piece[..count]);
                copied += count;
            }
            return Poll::Ready(Ok(copied));
        }
        match self.endpoint.read(id, into) {
            Ok(Read::Bytes(count)) => return Poll::Ready(Ok(count)),
            _ if into.is_empty() => return Poll::Ready(Ok(0)),
            Ok(Read::Finished) => {
                // The peer's end counts before the broken pipe after it.
                let error = self.take_end(descriptor);
                return match error.filter(|&error| error != Errno::EPIPE) {
                    Some(error) => ready(error),
                    None => Poll::Ready(Ok(0)),
                };
            }
            Ok(Read::Nothing) | Err(_) => {}
        }
        let socket = self.socket(descriptor)?;
        if socket.reads_shut {
            return Poll::Ready(Ok(0));
        }
        if socket.waits(flags & MSG_DONTWAIT) {
            Poll::Pending
        } else {
            ready(Errno::EAGAIN)
        }
    }

    /// Number of unread bytes for TCP_INQ, of a socket with that option: one more if the peer has
    /// closed (Linux, `tcp_inq_hint`).
    #[must_use]
    pub fn queued(&self, descriptor: Descriptor) -> Option<i32> {
        let socket = self.socket(descriptor).ok()?;
        let id = self.connection(descriptor).ok()?;
        let stream = self.endpoint.stream(id).filter(|_| socket.tells_queue)?;
        let left = i32::try_from(stream.available()).unwrap_or(i32::MAX);
        let has_closed = stream.connection().receiver().is_finished();
        Some(left.max(i32::from(has_closed)))
    }

    /// The next notice in the socket's error queue: the numbers of its first and last send.
    ///
    /// # Errors
    /// EAGAIN without a notice, and errors of the descriptor.
    pub fn take_notice(&mut self, descriptor: Descriptor) -> Result<(u32, u32), Errno> {
        let una = match self.connection(descriptor) {
            Ok(id) => self.acknowledged(id),
            Err(Errno::ENOTCONN) => 0,
            Err(error) => return Err(error),
        };
        let notice = self.socket_mut(descriptor)?.notices.take(una);
        notice.ok_or(Errno::EAGAIN)
    }

    /// Writes the remaining bytes; returns how many were written in all.
    ///
    /// # Errors
    /// EPIPE if nothing can be written, EAGAIN without room or handshake if the socket does not
    /// block, EOPNOTSUPP for urgent data, the error with which the connection ended, and with
    /// MSG_FASTOPEN the errors of [`connect`](Self::connect).
    pub fn write(&mut self, descriptor: Descriptor, what: &mut Outgoing) -> Outcome<usize> {
        if what.flags & MSG_OOB != 0 {
            return ready(Errno::EOPNOTSUPP);
        }
        let deferred = self.socket(descriptor)?.fast_open.deferred;
        let opens = what.flags & MSG_FASTOPEN != 0 || deferred.is_some();
        if opens && !std::mem::replace(&mut what.has_begun, true) {
            let to = deferred.map_or(what.to, Ok);
            match self.connect_fast(descriptor, to, &what.bytes) {
                Ok(taken) => return self.begun(descriptor, what, taken),
                // The handshake is complete: there is nothing to open.
                Err(Errno::EISCONN) => {}
                Err(error) => return ready(error),
            }
        }
        self.write_on(descriptor, what)
    }

    /// Continues a write that has opened its connection with `taken` bytes in the SYN.
    fn begun(
        &mut self,
        descriptor: Descriptor,
        what: &mut Outgoing,
        taken: usize,
    ) -> Outcome<usize> {
        let id = self.connection(descriptor)?;
        what.written = taken;
        let waits = self.socket(descriptor)?.waits(what.flags);
        if waits {
            // A writer that waits for the handshake: its data is already known (Linux,
            // `sk_write_pending`).
            let rest = &what.bytes[taken..];
            what.written += self.endpoint.write(id, rest).unwrap_or(0);
        }
        let socket = self.socket_mut(descriptor)?;
        socket.written += what.written as u64;
        if what.flags & MSG_ZEROCOPY != 0 && taken > 0 {
            socket.notices.on_sent(socket.written);
        }
        match what.written {
            _ if waits => Poll::Pending,
            0 => ready(Errno::EINPROGRESS),
            written => Poll::Ready(Ok(written)),
        }
    }

    fn write_on(&mut self, descriptor: Descriptor, what: &mut Outgoing) -> Outcome<usize> {
        let id = match self.connection(descriptor) {
            Ok(id) => id,
            Err(Errno::ENOTCONN) => return ready(Errno::EPIPE),
            Err(error) => return ready(error),
        };
        if let Some(error) = self.take_end(descriptor) {
            return ready(error);
        }
        let socket = self.socket(descriptor)?;
        let waits = socket.waits(what.flags);
        if socket.writes_shut {
            return ready(Errno::EPIPE);
        }
        let readiness = self.endpoint.readiness(id);
        if readiness.is_ok_and(|ready| !ready.established && ready.ended.is_none()) {
            // Linux, `sk_stream_wait_connect`.
            return if waits {
                Poll::Pending
            } else {
                ready(Errno::EAGAIN)
            };
        }
        let (no_delay, corked) = (socket.options.no_delay, socket.corked);
        let _ = self.endpoint.set_small_segments(id, no_delay, corked);
        let _ = self.endpoint.set_more(id, what.flags & MSG_MORE != 0);
        match self.endpoint.write(id, &what.bytes[what.written..]) {
            Ok(count) => {
                what.written += count;
                self.socket_mut(descriptor)?.written += count as u64;
            }
            Err(_) if what.written > 0 => {}
            Err(_) => return ready(Errno::EPIPE),
        }
        let is_done = what.written == what.bytes.len();
        if is_done && what.flags & MSG_EOR != 0 {
            let _ = self.endpoint.end_record(id);
        }
        if !is_done && waits {
            return Poll::Pending;
        }
        if what.written == 0 && !is_done {
            return ready(Errno::EAGAIN);
        }
        if what.flags & MSG_ZEROCOPY != 0 && !what.has_begun {
            let socket = self.socket_mut(descriptor)?;
            socket.notices.on_sent(socket.written);
        }
        Poll::Ready(Ok(what.written))
    }

    /// Shuts a side of the connection, or both.
    ///
    /// # Errors
    /// ENOTCONN unless it is open, EINVAL for another `how`.
    pub fn shut(&mut self, descriptor: Descriptor, how: i32) -> Result<(), Errno> {
        if !matches!(how, SHUT_RD | SHUT_WR | SHUT_RDWR) {
            return Err(Errno::EINVAL);
        }
        let id = self.connection(descriptor)?;
        let stream = self.endpoint.stream(id);
        let state = stream.map(|stream| stream.connection().state());
        if matches!(state, None | Some(State::Closed | State::SynSent)) {
            return Err(Errno::ENOTCONN);
        }
        let socket = self.socket_mut(descriptor)?;
        let (writes, reads) = (how != SHUT_RD, how != SHUT_WR);
        socket.writes_shut |= writes;
        socket.reads_shut |= reads;
        let no_delay = socket.options.no_delay;
        if writes {
            let _ = self.endpoint.set_small_segments(id, no_delay, false);
            let _ = self.endpoint.shut_writing(id);
        }
        if reads {
            // Data can still arrive and be read until writing is shut.
            let _ = self.endpoint.refuse_late_data(id);
        }
        Ok(())
    }

    /// Closes a descriptor.
    ///
    /// # Errors
    /// EBADF.
    pub fn close(&mut self, descriptor: Descriptor) -> Result<(), Errno> {
        let socket = self.remove(descriptor)?;
        match socket.kind {
            Kind::Connection(id) => {
                let no_delay = socket.options.no_delay;
                let _ = self.endpoint.set_small_segments(id, no_delay, false);
                let linger = match socket.linger {
                    None => Linger::Background,
                    Some(0) => Linger::Reset,
                    Some(seconds) => {
                        Linger::AtMost(Duration::from_secs(seconds.unsigned_abs().into()))
                    }
                };
                let _ = self.endpoint.release(self.now, id, linger);
            }
            Kind::Listens(listener) => self.endpoint.close_listener(self.now, listener),
            Kind::Fresh | Kind::Epoll(_) => {}
        }
        Ok(())
    }
}

//! Creates and opens sockets (socket(2) and the pages that it names).

use std::net::SocketAddr;
use std::task::Poll;

use airtcp_endpoint::{FastOpenConnect, ListenOptions};

use super::constants::{IPPROTO_TCP, SOCK_NONBLOCK, SOCK_STREAM};
use super::errno::Errno;
use super::socket::{Kind, Socket};
use super::table::{Descriptor, Outcome, Sockets, System};

/// The part of a socket's type that is not a flag (Linux, `SOCK_TYPE_MASK`).
const TYPE_MASK: i32 = 0xf;

impl<S: System> Sockets<S> {
    /// Creates a socket.
    ///
    /// # Errors
    /// EPROTONOSUPPORT if it is not TCP's, EMFILE if no descriptor is left.
    pub fn make_socket(&mut self, kind: i32, protocol: i32) -> Result<Descriptor, Errno> {
        if kind & TYPE_MASK != SOCK_STREAM || !matches!(protocol, 0 | IPPROTO_TCP) {
            return Err(Errno::EPROTONOSUPPORT);
        }
        let non_blocking = kind & SOCK_NONBLOCK != 0;
        self.open(Socket::new(Kind::Fresh, self.fresh_options(), non_blocking))
    }

    /// Binds a socket to a local address.
    ///
    /// # Errors
    /// EINVAL if it is bound.
    pub fn bind(&mut self, descriptor: Descriptor, address: SocketAddr) -> Result<(), Errno> {
        let socket = self.socket_mut(descriptor)?;
        if socket.bound.is_some() {
            return Err(Errno::EINVAL);
        }
        socket.bound = Some(address);
        Ok(())
    }

    /// Listens on the bound address.
    ///
    /// # Errors
    /// EINVAL if the socket is not fresh and bound, EADDRINUSE if another listens there.
    pub fn listen(&mut self, descriptor: Descriptor, backlog: i32) -> Result<(), Errno> {
        let most = usize::try_from(backlog).unwrap_or(0);
        let socket = self.socket(descriptor)?;
        let Kind::Fresh = socket.kind else {
            return Err(Errno::EINVAL);
        };
        let address = socket.bound.ok_or(Errno::EINVAL)?;
        let listening = ListenOptions {
            options: socket.options.clone(),
            fast_open: self.fast_open_of_listener(socket, most),
            // Linux admits one connection more than the backlog (`sk_acceptq_is_full`).
            backlog: most + 1,
            ..ListenOptions::default()
        };
        let listener = self.endpoint.listen(address, listening);
        let listener = listener.map_err(|_| Errno::EADDRINUSE)?;
        let socket = self.socket_mut(descriptor)?;
        socket.kind = Kind::Listens(listener);
        socket.backlog = backlog;
        Ok(())
    }

    /// Accepts the connection that has waited longest; returns its descriptor and its peer. `kind`
    /// holds the flags of accept4.
    ///
    /// # Errors
    /// EINVAL if the socket does not listen, EAGAIN if no connection waits and it does not block.
    pub fn accept(
        &mut self,
        descriptor: Descriptor,
        kind: i32,
    ) -> Outcome<(Descriptor, SocketAddr)> {
        let socket = self.socket(descriptor)?;
        let Kind::Listens(listener) = socket.kind else {
            return Poll::Ready(Err(Errno::EINVAL));
        };
        let non_blocking = socket.non_blocking;
        let Some(id) = self.endpoint.accept(listener) else {
            return if non_blocking {
                Poll::Ready(Err(Errno::EAGAIN))
            } else {
                Poll::Pending
            };
        };
        let ends = self.endpoint.tuple(id).ok_or(Errno::ECONNABORTED)?;
        let accepted = self
            .socket(descriptor)?
            .accepted(id, kind & SOCK_NONBLOCK != 0);
        let accepted = self.open(accepted)?;
        self.apply_small_segments(accepted)?;
        Poll::Ready(Ok((accepted, ends.remote)))
    }

    /// Begins to open a connection. While it is pending, ask whether it is
    /// [connected](Self::connected).
    ///
    /// # Errors
    /// EINPROGRESS if the socket does not block, EALREADY and EISCONN if it was opened before,
    /// EADDRNOTAVAIL, and the error with which the connection ended.
    pub fn connect(&mut self, descriptor: Descriptor, remote: SocketAddr) -> Outcome<()> {
        let socket = self.socket(descriptor)?;
        let (waits, told) = (!socket.non_blocking, socket.told_of_opening);
        match socket.kind {
            Kind::Fresh if socket.fast_open.deferred.is_some() => {
                return Poll::Ready(Err(Errno::EISCONN));
            }
            Kind::Fresh => {}
            Kind::Connection(_) if told => return Poll::Ready(Err(Errno::EISCONN)),
            Kind::Connection(_) => {
                return match self.connected(descriptor) {
                    Poll::Pending => Poll::Ready(Err(Errno::EALREADY)),
                    ready => ready,
                };
            }
            Kind::Listens(_) => return Poll::Ready(Err(Errno::EISCONN)),
            Kind::Epoll(_) => return Poll::Ready(Err(Errno::ENOTSOCK)),
        }
        let from = self.local_end(descriptor)?;
        if self.defers(descriptor, from, remote) {
            return Poll::Ready(Ok(()));
        }
        let socket = self.socket(descriptor)?;
        if socket.fast_open.defers {
            self.connect_fast(descriptor, Ok(remote), &[])?;
        } else {
            let options = socket.options.clone();
            let opened = self.endpoint.connect(self.now, from, remote, &options);
            let id = opened.map_err(|_| Errno::EADDRNOTAVAIL)?;
            self.socket_mut(descriptor)?.kind = Kind::Connection(id);
        }
        if waits {
            Poll::Pending
        } else {
            Poll::Ready(Err(Errno::EINPROGRESS))
        }
    }

    /// Whether a connection is open.
    ///
    /// # Errors
    /// The error with which it ended.
    pub fn connected(&mut self, descriptor: Descriptor) -> Outcome<()> {
        let id = self.connection(descriptor)?;
        if let Some(error) = self.take_end(descriptor) {
            return Poll::Ready(Err(error));
        }
        let ready = self.endpoint.readiness(id).map_err(|_| Errno::ENOTCONN)?;
        if ready.ended.is_some() {
            return Poll::Ready(Err(Errno::ECONNABORTED));
        }
        if !ready.established {
            return Poll::Pending;
        }
        self.socket_mut(descriptor)?.told_of_opening = true;
        Poll::Ready(Ok(()))
    }

    /// The local end of a connection of this socket; port 0 if to be chosen.
    pub(super) fn local_end(&self, descriptor: Descriptor) -> Result<SocketAddr, Errno> {
        let local = self.local();
        let bound = self.socket(descriptor)?.bound;
        let mut from = bound.unwrap_or(SocketAddr::new(local, 0));
        if from.ip().is_unspecified() {
            from.set_ip(local);
        }
        Ok(from)
    }

    /// Whether a connect of this socket defers the SYN until there is data; records that.
    fn defers(&mut self, descriptor: Descriptor, from: SocketAddr, to: SocketAddr) -> bool {
        let Ok(socket) = self.socket(descriptor) else {
            return false;
        };
        let how: FastOpenConnect = self.fast_open_connect(socket);
        let knows = self.endpoint.has_fast_open_cookie(self.now, from, to, how);
        let defers = socket.fast_open.defers && knows;
        if defers && let Ok(socket) = self.socket_mut(descriptor) {
            socket.fast_open.deferred = Some(to);
        }
        defers
    }
}

//! Data in SYNs (RFC 7413) by calls: sendto and sendmsg with MSG_FASTOPEN, and deferred connects
//! (tcp(7); Linux, `tcp_sendmsg_fastopen`).

use std::net::SocketAddr;

use airtcp_endpoint::{FastOpenConnect, FastOpenListen};

use super::errno::Errno;
use super::fast_open_options::{
    CLIENT, CLIENT_WITHOUT_COOKIE, EVERY_LISTENER, SERVER, SERVER_WITHOUT_COOKIE,
};
use super::socket::{Kind, Socket};
use super::table::{Descriptor, Sockets, System};

impl<S: System> Sockets<S> {
    /// A listener's treatment of data in SYNs.
    pub(super) fn fast_open_of_listener(
        &self,
        socket: &Socket,
        backlog: usize,
    ) -> Option<FastOpenListen> {
        let bits = self.system.fast_open();
        let own = &socket.fast_open;
        let pending = match own.pending {
            0 if bits & EVERY_LISTENER != 0 => backlog,
            pending => pending,
        };
        (bits & SERVER != 0 && pending > 0).then(|| FastOpenListen {
            pending,
            without_cookie: bits & SERVER_WITHOUT_COOKIE != 0 || own.without_cookie,
            keys: own.keys.or_else(|| self.system.fast_open_keys()),
        })
    }

    /// A socket's use of cookies in its SYN.
    pub(super) fn fast_open_connect(&self, socket: &Socket) -> FastOpenConnect {
        let bits = self.system.fast_open();
        FastOpenConnect {
            without_cookie: bits & CLIENT_WITHOUT_COOKIE != 0 || socket.fast_open.without_cookie,
        }
    }

    /// The value of TCP_FASTOPEN_CONNECT (Linux, `do_tcp_setsockopt`).
    pub(super) fn may_defer(&self, number: i32) -> Result<bool, Errno> {
        match number {
            _ if self.system.fast_open() & CLIENT == 0 => Err(Errno::EOPNOTSUPP),
            0 | 1 => Ok(number == 1),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Opens a connection with the first of `bytes`, or a cookie request, in its SYN. Returns how
    /// many it carries.
    pub(super) fn connect_fast(
        &mut self,
        descriptor: Descriptor,
        to: Result<SocketAddr, Errno>,
        bytes: &[u8],
    ) -> Result<usize, Errno> {
        if self.system.fast_open() & CLIENT == 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let from = self.local_end(descriptor)?;
        let socket = self.socket(descriptor)?;
        match socket.kind {
            Kind::Fresh => {}
            Kind::Connection(id) => {
                let ready = self.endpoint.readiness(id);
                let opens = ready.is_ok_and(|ready| !ready.established && ready.ended.is_none());
                return Err(if opens {
                    Errno::EALREADY
                } else {
                    Errno::EISCONN
                });
            }
            Kind::Listens(_) => return Err(Errno::EISCONN),
            Kind::Epoll(_) => return Err(Errno::ENOTSOCK),
        }
        let to = to?;
        let (how, options) = (self.fast_open_connect(socket), socket.options.clone());
        let opened = self
            .endpoint
            .connect_fast(self.now, from, to, &options, how, bytes);
        let (id, taken) = opened.map_err(|_| Errno::EADDRNOTAVAIL)?;
        let socket = self.socket_mut(descriptor)?;
        socket.fast_open.deferred = None;
        socket.kind = Kind::Connection(id);
        Ok(taken)
    }
}

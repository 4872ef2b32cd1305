//! Creates, opens, reads, writes and closes sockets (socket(2) and the pages that it names).

use std::net::SocketAddr;

use airtcp_endpoint::{ConnectionId, Linger, ListenOptions, Read};
use airtcp_tcp::State;
use airtcp_units::Duration;

use crate::fast_open;
use crate::socket::{Kind, Socket};
use crate::system;
use crate::world::{Answer, World};

impl World {
    pub fn make_socket(&mut self, kind: i32, protocol: i32) -> Answer {
        if kind & 0xf != libc::SOCK_STREAM || !matches!(protocol, 0 | libc::IPPROTO_TCP) {
            return Err(libc::EPROTONOSUPPORT);
        }
        let non_blocking = kind & libc::SOCK_NONBLOCK != 0;
        self.open(Socket::new(Kind::Fresh, system::options(), non_blocking))
    }

    pub fn bind(&mut self, descriptor: i32, address: SocketAddr) -> Answer {
        let socket = self.socket(descriptor)?;
        if socket.bound.is_some() {
            return Err(libc::EINVAL);
        }
        socket.bound = Some(address);
        Ok(0)
    }

    pub fn listen(&mut self, descriptor: i32, backlog: i32) -> Answer {
        let socket = self.socket(descriptor)?;
        let Kind::Fresh = socket.kind else {
            return Err(libc::EINVAL);
        };
        let address = socket.bound.ok_or(libc::EINVAL)?;
        let most = usize::try_from(backlog).unwrap_or(0);
        let listening = ListenOptions {
            options: socket.options.clone(),
            fast_open: fast_open::of_listener(socket, most),
            // Linux admits one connection more than the backlog (`sk_acceptq_is_full`).
            backlog: most + 1,
            ..ListenOptions::default()
        };
        let listener = self.endpoint.listen(address, listening);
        let listener = listener.map_err(|_| libc::EADDRINUSE)?;
        let socket = self.socket(descriptor)?;
        socket.kind = Kind::Listens(listener);
        socket.backlog = backlog;
        Ok(0)
    }

    /// Accepts a waiting connection, if any. `tell` receives the peer's address.
    pub fn accept(
        &mut self,
        descriptor: i32,
        tell: &mut (dyn FnMut(SocketAddr) + Send),
    ) -> Option<Answer> {
        let socket = match self.socket(descriptor) {
            Ok(socket) => socket,
            Err(error) => return Some(Err(error)),
        };
        let (options, non_blocking) = (socket.options.clone(), socket.non_blocking);
        let inherited = (socket.linger, socket.not_sent_low_water, socket.tells_queue);
        let Kind::Listens(listener) = socket.kind else {
            return Some(Err(libc::EINVAL));
        };
        let Some(id) = self.endpoint.accept(listener) else {
            return non_blocking.then_some(Err(libc::EAGAIN));
        };
        if let Some(tuple) = self.endpoint.tuple(id) {
            tell(tuple.remote);
        }
        let mut socket = Socket::new(Kind::Connection(id), options, false);
        (socket.linger, socket.not_sent_low_water, socket.tells_queue) = inherited;
        Some(self.open(socket))
    }

    /// Begins to open a connection.
    pub fn connect(&mut self, descriptor: i32, remote: SocketAddr) -> Answer {
        let now = self.now;
        let is_deferred = self.is_deferred(descriptor);
        match self.socket(descriptor)?.kind {
            Kind::Fresh if is_deferred => return Err(libc::EISCONN),
            Kind::Fresh => {}
            Kind::Connection(id) => {
                return self
                    .connected(descriptor, id)
                    .unwrap_or(Err(libc::EALREADY));
            }
            Kind::Listens(_) => return Err(libc::EISCONN),
            Kind::Epoll(_) => return Err(libc::ENOTSOCK),
        }
        let from = self.local_end(descriptor)?;
        if self.defers(descriptor, from, remote) {
            return Ok(0);
        }
        let socket = self.socket(descriptor)?;
        if socket.fast_open.defers {
            self.connect_fast(descriptor, Ok(remote), &[])?;
            return Err(libc::EINPROGRESS);
        }
        let options = socket.options.clone();
        let opened = self.endpoint.connect(now, from, remote, &options);
        let id = opened.map_err(|_| libc::EADDRNOTAVAIL)?;
        let socket = self.socket(descriptor)?;
        socket.kind = Kind::Connection(id);
        Err(libc::EINPROGRESS)
    }

    /// The local end of a connection of this socket; port 0 if to be chosen.
    pub fn local_end(&mut self, descriptor: i32) -> Result<SocketAddr, i32> {
        let local = self.local;
        let socket = self.socket(descriptor)?;
        let mut from = socket.bound.unwrap_or(SocketAddr::new(local, 0));
        if from.ip().is_unspecified() {
            from.set_ip(local);
        }
        Ok(from)
    }

    /// Whether a connection is open, or has failed.
    pub fn connected(&mut self, descriptor: i32, id: ConnectionId) -> Option<Answer> {
        if let Some(error) = self.take_end(descriptor) {
            return Some(Err(error));
        }
        let ready = self.endpoint.readiness(id).ok()?;
        if ready.ended.is_some() {
            return Some(Err(libc::ECONNABORTED));
        }
        ready.established.then_some(Ok(0))
    }

    /// Reads into `into`; `None` if a blocking socket has to wait.
    pub fn read(&mut self, descriptor: i32, into: &mut [u8], flags: i32) -> Option<Answer> {
        let id = match self.connection(descriptor) {
            Ok(id) => id,
            Err(libc::ENOTCONN) if self.is_deferred(descriptor) => return Some(Err(libc::EAGAIN)),
            Err(error) => return Some(Err(error)),
        };
        if flags & libc::MSG_PEEK != 0
            && let Some(stream) = self.endpoint.stream(id)
            && stream.available() > 0
        {
            let mut copied = 0;
            for piece in stream.peek() {
                let count = piece.len().min(into.len() - copied);
                into[copied..copied + count].copy_from_slice(&piece[..count]);
                copied += count;
            }
            return Some(Ok(copied as isize));
        }
        match self.endpoint.read(id, into) {
            Ok(Read::Bytes(count)) => return Some(Ok(count as isize)),
            _ if into.is_empty() => return Some(Ok(0)),
            Ok(Read::Finished) => {
                let error = self
                    .take_end(descriptor)
                    .filter(|&error| error != libc::EPIPE);
                return Some(error.map_or(Ok(0), Err));
            }
            Ok(Read::Nothing) | Err(_) => {}
        }
        let socket = self.sockets.get(&descriptor)?;
        if socket.reads_shut {
            return Some(Ok(0));
        }
        let waits = !socket.non_blocking && flags & libc::MSG_DONTWAIT == 0;
        (!waits).then_some(Err(libc::EAGAIN))
    }

    /// Writes the remaining `bytes`; `None` if a blocking socket has to wait for room.
    pub fn write(
        &mut self,
        descriptor: i32,
        bytes: &[u8],
        flags: i32,
        written: &mut usize,
    ) -> Option<Answer> {
        if flags & libc::MSG_OOB != 0 {
            return Some(Err(libc::EOPNOTSUPP));
        }
        let id = match self.connection(descriptor) {
            Ok(id) => id,
            Err(libc::ENOTCONN) => return Some(Err(libc::EPIPE)),
            Err(error) => return Some(Err(error)),
        };
        if let Some(error) = self.take_end(descriptor) {
            return Some(Err(error));
        }
        let socket = self.sockets.get(&descriptor)?;
        let waits = socket.waits(flags);
        if socket.writes_shut {
            return Some(Err(libc::EPIPE));
        }
        if self
            .endpoint
            .readiness(id)
            .is_ok_and(|ready| !ready.established)
        {
            // Linux, `sk_stream_wait_connect`.
            return (!waits).then_some(Err(libc::EAGAIN));
        }
        let corked = socket.corked || flags & libc::MSG_MORE != 0;
        let no_delay = socket.options.no_delay;
        let _ = self.endpoint.set_small_segments(id, no_delay, corked);
        match self.endpoint.write(id, &bytes[*written..]) {
            Ok(count) => *written += count,
            Err(_) if *written > 0 => {}
            Err(_) => return Some(Err(libc::EPIPE)),
        }
        if *written == bytes.len() && flags & libc::MSG_EOR != 0 {
            let _ = self.endpoint.end_record(id);
        }
        if *written == bytes.len() || !waits {
            let nothing = *written == 0 && !bytes.is_empty();
            return Some(if nothing {
                Err(libc::EAGAIN)
            } else {
                Ok(*written as isize)
            });
        }
        None
    }

    pub fn shut(&mut self, descriptor: i32, how: i32) -> Answer {
        let id = self.connection(descriptor)?;
        let state = self
            .endpoint
            .stream(id)
            .map(|stream| stream.connection().state());
        if matches!(state, None | Some(State::Closed | State::SynSent)) {
            return Err(libc::ENOTCONN);
        }
        let socket = self.socket(descriptor)?;
        let writes = matches!(how, libc::SHUT_WR | libc::SHUT_RDWR);
        let reads = matches!(how, libc::SHUT_RD | libc::SHUT_RDWR);
        socket.writes_shut |= writes;
        socket.reads_shut |= reads;
        let no_delay = socket.options.no_delay;
        if writes {
            let _ = self.endpoint.set_small_segments(id, no_delay, false);
            let _ = self.endpoint.shut_writing(id);
        }
        Ok(0)
    }

    pub fn close(&mut self, descriptor: i32) -> Answer {
        let socket = self.sockets.remove(&descriptor).ok_or(libc::EBADF)?;
        let now = self.now;
        match socket.kind {
            Kind::Connection(id) => {
                let _ = self
                    .endpoint
                    .set_small_segments(id, socket.options.no_delay, false);
                let linger = match socket.linger {
                    None => Linger::Background,
                    Some(0) => Linger::Reset,
                    Some(seconds) => {
                        Linger::AtMost(Duration::from_secs(seconds.unsigned_abs().into()))
                    }
                };
                let _ = self.endpoint.release(now, id, linger);
            }
            Kind::Listens(listener) => self.endpoint.close_listener(now, listener),
            Kind::Fresh | Kind::Epoll(_) => {}
        }
        for socket in self.sockets.values_mut() {
            if let Kind::Epoll(watched) = &mut socket.kind {
                watched.remove(&descriptor);
            }
        }
        Ok(0)
    }
}

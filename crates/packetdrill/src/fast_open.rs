//! TCP Fast Open by calls: sendto and sendmsg with MSG_FASTOPEN, TCP_FASTOPEN and its relatives
//! (tcp(7); Linux, `tcp_sendmsg_fastopen`, Documentation/networking/ip-sysctl.rst).

use std::fs;
use std::net::SocketAddr;

use airtcp_endpoint::{FastOpenConnect, FastOpenKeys, FastOpenListen};

use crate::socket::{Kind, Socket};
use crate::world::{Answer, World};

/// Bits of `tcp_fastopen`.
const CLIENT: u32 = 0x1;
const SERVER: u32 = 0x2;
const CLIENT_WITHOUT_COOKIE: u32 = 0x4;
const SERVER_WITHOUT_COOKIE: u32 = 0x200;
const EVERY_LISTENER: u32 = 0x400;

/// The value of `/proc/sys/net/ipv4/tcp_fastopen`.
fn enabled() -> u32 {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_fastopen").unwrap_or_default();
    text.trim().parse().unwrap_or(CLIENT)
}

/// The network namespace's keys; `None` without any.
fn keys() -> Option<FastOpenKeys> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_fastopen_key").ok()?;
    let mut keys = text.trim().split(',').map(key_of_words);
    let primary = keys.next()??;
    Some(match keys.next().flatten() {
        Some(backup) => FastOpenKeys::with_backup(primary, backup),
        None => FastOpenKeys::new(primary),
    })
}

/// A key in four words of hexadecimal digits, each with its bytes in reverse order in memory.
fn key_of_words(text: &str) -> Option<[u8; 16]> {
    let mut key = [0; 16];
    let mut words = text.split('-');
    for place in key.chunks_exact_mut(4) {
        let word = u32::from_str_radix(words.next()?, 16).ok()?;
        place.copy_from_slice(&word.to_le_bytes());
    }
    words.next().is_none().then_some(key)
}

/// One or two keys, in the format of TCP_FASTOPEN_KEY.
pub fn keys_of_option(value: &[u8]) -> Result<FastOpenKeys, i32> {
    match value.as_chunks::<16>() {
        ([key], []) => Ok(FastOpenKeys::new(*key)),
        ([key, backup], []) => Ok(FastOpenKeys::with_backup(*key, *backup)),
        _ => Err(libc::EINVAL),
    }
}

/// The value of TCP_FASTOPEN_CONNECT (Linux, `do_tcp_setsockopt`).
pub fn may_defer(number: i32) -> Result<bool, i32> {
    match number {
        _ if enabled() & CLIENT == 0 => Err(libc::EOPNOTSUPP),
        0 | 1 => Ok(number == 1),
        _ => Err(libc::EINVAL),
    }
}

/// A listener's treatment of data in SYNs.
pub fn of_listener(socket: &Socket, backlog: usize) -> Option<FastOpenListen> {
    let bits = enabled();
    let own = &socket.fast_open;
    let pending = match own.pending {
        0 if bits & EVERY_LISTENER != 0 => backlog,
        pending => pending,
    };
    (bits & SERVER != 0 && pending > 0).then(|| FastOpenListen {
        pending,
        without_cookie: bits & SERVER_WITHOUT_COOKIE != 0 || own.without_cookie,
        keys: own.keys.or_else(keys),
    })
}

impl World {
    /// Whether a connect of this socket defers the SYN until there is data; records that.
    pub fn defers(&mut self, descriptor: i32, from: SocketAddr, to: SocketAddr) -> bool {
        let now = self.now;
        let Some(socket) = self.sockets.get_mut(&descriptor) else {
            return false;
        };
        let how = how(socket);
        let knows = self.endpoint.has_fast_open_cookie(now, from, to, how);
        let defers = socket.fast_open.defers && knows;
        if defers {
            socket.fast_open.deferred = Some(to);
        }
        defers
    }

    /// Whether the SYN of this socket is deferred.
    pub fn is_deferred(&self, descriptor: i32) -> bool {
        let socket = self.sockets.get(&descriptor);
        socket.is_some_and(|socket| socket.fast_open.deferred.is_some())
    }

    /// Opens a connection with the first of `bytes`, or a cookie request, in its SYN. Returns how
    /// many it carries.
    pub fn connect_fast(
        &mut self,
        descriptor: i32,
        to: Result<SocketAddr, i32>,
        bytes: &[u8],
    ) -> Result<usize, i32> {
        if enabled() & CLIENT == 0 {
            return Err(libc::EOPNOTSUPP);
        }
        let from = self.local_end(descriptor)?;
        let now = self.now;
        let socket = self.socket(descriptor)?;
        match socket.kind {
            Kind::Fresh => {}
            Kind::Connection(id) => {
                let opens = self
                    .endpoint
                    .readiness(id)
                    .is_ok_and(|ready| !ready.established);
                return Err(if opens { libc::EALREADY } else { libc::EISCONN });
            }
            Kind::Listens(_) => return Err(libc::EISCONN),
            Kind::Epoll(_) => return Err(libc::ENOTSOCK),
        }
        let to = to?;
        socket.fast_open.deferred = None;
        let (how, options) = (how(socket), socket.options.clone());
        let opened = self
            .endpoint
            .connect_fast(now, from, to, &options, how, bytes);
        let (id, taken) = opened.map_err(|_| libc::EADDRNOTAVAIL)?;
        self.socket(descriptor)?.kind = Kind::Connection(id);
        Ok(taken)
    }

    /// Begins a write that may open its connection: the bytes in its SYN count as written. Returns
    /// the call's result, if that is all.
    pub fn begin_fast(
        &mut self,
        descriptor: i32,
        bytes: &[u8],
        flags: i32,
        to: Result<SocketAddr, i32>,
        written: &mut usize,
    ) -> Option<Answer> {
        match self.connect_fast(descriptor, to, bytes) {
            Ok(taken) => *written = taken,
            // The handshake is complete: there is nothing to open.
            Err(libc::EISCONN) => return self.write(descriptor, bytes, 0, written),
            Err(error) => return Some(Err(error)),
        }
        let waits = self.sockets.get(&descriptor)?.waits(flags);
        if waits && let Ok(id) = self.connection(descriptor) {
            // A writer that waits for the handshake: its data is already known (Linux,
            // `sk_write_pending`).
            *written += self.endpoint.write(id, &bytes[*written..]).unwrap_or(0);
        }
        match *written {
            _ if waits => None,
            0 => Some(Err(libc::EINPROGRESS)),
            taken => Some(Ok(taken as isize)),
        }
    }
}

fn how(socket: &Socket) -> FastOpenConnect {
    FastOpenConnect {
        without_cookie: enabled() & CLIENT_WITHOUT_COOKIE != 0 || socket.fast_open.without_cookie,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lie_in_memory_as_linux_has_them() {
        let bytes = *b"\xf7\x63\xbf\xa0\x81\x3d\x80\xed\x30\x1d\x64\xcd\x90\x4a\xbc\xce";
        assert_eq!(
            key_of_words("a0bf63f7-ed803d81-cd641d30-cebc4a90"),
            Some(bytes)
        );
        assert_eq!(key_of_words("a0bf63f7-ed803d81-cd641d30"), None);
        assert_eq!(key_of_words("a0bf63f7-ed803d81-cd641d30-cebc4a90-1"), None);
        assert_eq!(keys_of_option(&bytes), Ok(FastOpenKeys::new(bytes)));
        assert_eq!(keys_of_option(&bytes[..15]), Err(libc::EINVAL));
        assert_eq!(keys_of_option(b""), Err(libc::EINVAL));
    }
}

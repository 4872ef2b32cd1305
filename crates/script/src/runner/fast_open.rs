//! TCP Fast Open (RFC 7413): the cookies of this machine as client and as server, and the calls
//! that use them (tcp(7); Linux, `tcp_sendmsg_fastopen`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use airtcp_endpoint::{
    CacheSettings, FastOpenCache, FastOpenConnect, FastOpenKeys, FastOpenListen, FourTuple,
};
use airtcp_packet::{Segment, SequenceNumber};
use airtcp_tcp::{Connection, FastOpenSyn, State};

use super::answer::Answer;
use super::{Machine, Stop, unsupported};
use crate::parser::number;
use crate::syntax::Call;

/// Bits of `tcp_fastopen` (Linux, Documentation/networking/ip-sysctl.rst).
const CLIENT: u32 = 0x1;
const SERVER: u32 = 0x2;
const CLIENT_WITHOUT_COOKIE: u32 = 0x4;
const SERVER_WITHOUT_COOKIE: u32 = 0x200;
const EVERY_LISTENER: u32 = 0x400;
/// The value set by `common/defaults.sh` of the public suite.
const SUITES_BITS: u32 = 0x403;
const SUITES_KEY: &str = "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4";

/// Knowledge and settings of the machine.
#[derive(Debug)]
pub(super) struct FastOpenState {
    cache: FastOpenCache,
    bits: u32,
    keys: FastOpenKeys,
    /// The local address and the peer's.
    pub local: IpAddr,
    pub remote: IpAddr,
    socket: SocketOptions,
}

/// Settings of a socket.
#[derive(Clone, Copy, Debug, Default)]
struct SocketOptions {
    /// TCP_FASTOPEN.
    pending: i64,
    /// TCP_FASTOPEN_KEY.
    keys: Option<FastOpenKeys>,
    /// TCP_FASTOPEN_CONNECT.
    defers: bool,
    /// Whether a connect has deferred the SYN until there is data.
    is_deferred: bool,
    /// Bytes of a writer that waits for the handshake, and how many of them are in the SYN.
    written: Option<(u64, u64)>,
}

impl Default for FastOpenState {
    fn default() -> Self {
        Self {
            cache: FastOpenCache::new([0; 16], CacheSettings::default()),
            bits: CLIENT,
            keys: FastOpenKeys::new([0; 16]),
            local: Ipv4Addr::new(192, 168, 0, 1).into(),
            remote: Ipv4Addr::new(192, 0, 2, 1).into(),
            socket: SocketOptions::default(),
        }
    }
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

/// The bytes of a string of `\x..`.
fn key_of_bytes(text: &str) -> Option<[u8; 16]> {
    let mut bytes = text.trim_matches('"').split("\\x");
    bytes.next()?;
    let bytes: Option<Vec<u8>> = bytes
        .map(|digits| u8::from_str_radix(digits, 16).ok())
        .collect();
    bytes?.try_into().ok()
}

impl FastOpenState {
    /// Handles the creation of a socket.
    pub fn on_socket(&mut self) {
        self.socket = SocketOptions::default();
    }

    /// Applies the settings of Fast Open in a shell command.
    pub fn on_command(&mut self, text: &str) {
        if text.contains("defaults.sh") {
            self.bits = SUITES_BITS;
            self.set_keys(SUITES_KEY);
        }
        if text.contains("defaults.sh") || text.contains("tcp_metrics flush") {
            self.cache = FastOpenCache::new([0; 16], CacheSettings::default());
        }
        for word in text.split_whitespace() {
            let Some((name, value)) = word.split_once('=') else {
                continue;
            };
            let name = name.rsplit(['/', '.']).next().unwrap_or(name);
            match name {
                "tcp_fastopen" => {
                    let bits = number(value).and_then(|bits| u32::try_from(bits).ok());
                    self.bits = bits.unwrap_or(self.bits);
                }
                "tcp_fastopen_key" => self.set_keys(value),
                _ => {}
            }
        }
    }

    fn set_keys(&mut self, text: &str) {
        if let Some(key) = key_of_words(text) {
            self.keys = FastOpenKeys::new(key);
        }
    }

    /// packetdrill's addresses for IPv6, if the script names no address.
    pub fn use_ipv6(&mut self) {
        let of = |network, host| Ipv6Addr::new(0xfd3d, network, host, 0, 0, 0, 0, 1).into();
        if self.local.is_ipv4() {
            self.local = of(0x0a0b, 0x17d6);
        }
        if self.remote.is_ipv4() {
            self.remote = of(0xfa7b, 0xd17d);
        }
    }

    fn tuple(&self) -> FourTuple {
        let end = |address| SocketAddr::new(address, 1);
        FourTuple {
            local: end(self.local),
            remote: end(self.remote),
        }
    }

    const fn how(&self) -> FastOpenConnect {
        FastOpenConnect {
            without_cookie: self.bits & CLIENT_WITHOUT_COOKIE != 0,
        }
    }

    /// The socket's settings as a listener.
    fn listening(&self) -> Option<FastOpenListen> {
        let pending = usize::try_from(self.socket.pending).unwrap_or(0);
        let is_on = self.bits & SERVER != 0 && (pending > 0 || self.bits & EVERY_LISTENER != 0);
        is_on.then_some(FastOpenListen {
            pending: pending.max(1),
            without_cookie: self.bits & SERVER_WITHOUT_COOKIE != 0,
            keys: self.socket.keys,
        })
    }

    /// Decides on a SYN for a listening `connection`.
    pub fn on_syn(&self, connection: &mut Connection, syn: &Segment) {
        if connection.state() == State::Listen
            && let Some(listening) = self.listening()
        {
            connection.answer_fast_open(listening.answer(&self.keys, &self.tuple(), syn));
        }
    }

    /// Learns from the answer to a SYN that requested `asked`, after `connection` has processed it.
    pub fn learn(
        &mut self,
        asked: Option<(FastOpenSyn, bool)>,
        connection: &Connection,
        answer: &Segment,
    ) {
        if let Some(asked) = asked
            && connection.is_synchronized()
        {
            let tuple = self.tuple();
            self.cache.learn(&tuple, asked, answer);
        }
    }

    /// Sets a socket option; `None` for options unrelated to Fast Open.
    pub fn set_option(&mut self, name: &str, value: &str, length: &str) -> Option<Answer> {
        let on = number(value);
        Some(match name {
            "TCP_FASTOPEN" => {
                self.socket.pending = on.unwrap_or(0);
                Answer::Value(0)
            }
            "TCP_FASTOPEN_CONNECT" if self.bits & CLIENT == 0 => Answer::Error("EOPNOTSUPP"),
            "TCP_FASTOPEN_CONNECT" => {
                self.socket.defers = on == Some(1);
                Answer::Value(0)
            }
            "TCP_FASTOPEN_KEY" => match key_of_bytes(value).filter(|_| length.trim() == "16") {
                Some(key) => {
                    self.socket.keys = Some(FastOpenKeys::new(key));
                    Answer::Value(0)
                }
                None => Answer::Error("EINVAL"),
            },
            _ => return None,
        })
    }
}

impl Machine<'_> {
    /// A connect of a socket with TCP_FASTOPEN_CONNECT: it waits for data if a cookie is known,
    /// otherwise it requests one. `None` for other sockets.
    pub(super) fn connect_fast(&mut self) -> Option<Answer> {
        let fast = &self.fast_open;
        if !fast.socket.defers {
            return None;
        }
        if fast.socket.is_deferred {
            return Some(Answer::Error("EISCONN"));
        }
        let knows = fast.cache.allows_data(self.now, &fast.tuple(), fast.how());
        if knows {
            self.fast_open.socket.is_deferred = true;
            return Some(Answer::Value(0));
        }
        self.open_fast(0);
        Some(if self.non_blocking {
            Answer::Error("EINPROGRESS")
        } else {
            Answer::Waits
        })
    }

    /// Whether a write with these flags opens the connection.
    pub(super) fn opens_by_writing(&self, flags: &str) -> bool {
        let is_new = self.connection.is_none();
        is_new && (flags.contains("MSG_FASTOPEN") || flags.contains("0x20000000"))
            || self.fast_open.socket.is_deferred
    }

    /// Whether a read meets a socket with a deferred SYN.
    pub(super) const fn waits_for_data(&self) -> bool {
        self.fast_open.socket.is_deferred
    }

    /// Writes `bytes`, which opens the connection.
    pub(super) fn write_fast(
        &mut self,
        call: &Call,
        bytes: u64,
        flags: &str,
    ) -> Result<Answer, Stop> {
        if call.arguments.iter().any(|one| one.contains("AF_UNSPEC"))
            || self.fast_open.bits & CLIENT == 0
        {
            return Ok(Answer::Error("EOPNOTSUPP"));
        }
        if call.arguments.get(1).is_some_and(|one| one == "NULL") {
            return Ok(Answer::Error("EFAULT"));
        }
        if self.config.mss == 0 {
            return unsupported("segments of no bytes");
        }
        self.descriptor = call.arguments.first().and_then(|one| number(one));
        let taken = self.open_fast(bytes);
        if flags.contains("MSG_ZEROCOPY") && taken > 0 {
            self.notices.on_sent(taken);
        }
        let waits = !self.non_blocking && !flags.contains("MSG_DONTWAIT");
        if waits {
            if let Some(connection) = &mut self.connection {
                self.records.write(connection, bytes - taken);
            }
            self.fast_open.socket.written = Some((bytes, taken));
            return Ok(Answer::Waits);
        }
        Ok(match taken {
            0 => Answer::Error("EINPROGRESS"),
            taken => Answer::Value(i64::try_from(taken).unwrap_or(i64::MAX)),
        })
    }

    /// The result of a waiting writer, if it can return.
    pub(super) fn written_fast(&mut self) -> Answer {
        match self.fast_open.socket.written {
            Some((bytes, _)) if self.is_established() => {
                self.fast_open.socket.written = None;
                Answer::Value(i64::try_from(bytes).unwrap_or(i64::MAX))
            }
            _ => self.take_error().map_or(Answer::Waits, Answer::Error),
        }
    }

    /// Opens a connection with the first of `bytes` in its SYN; returns how many.
    fn open_fast(&mut self, bytes: u64) -> u64 {
        let fast = &mut self.fast_open;
        fast.socket.is_deferred = false;
        let wanted = self
            .wanted_mss
            .unwrap_or(u32::MAX)
            .min(self.mtu.saturating_sub(self.headers).max(1));
        let payload = u16::try_from(wanted).unwrap_or(u16::MAX);
        let syn = fast.cache.syn(self.now, &fast.tuple(), payload, fast.how());
        let taken = bytes.min(syn.most.into());
        let mut connection = Connection::connect(&self.config, SequenceNumber(0));
        connection.open_fast(syn);
        self.records.write(&mut connection, taken);
        self.connection = Some(connection);
        taken
    }
}

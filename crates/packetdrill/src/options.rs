//! Socket options and ioctls: setsockopt(2), tcp(7), ioctl(2), fcntl(2).

use airtcp_script::settings::{self, SettingOutcome};
use airtcp_script::tcp_info::QueryContext;
use airtcp_units::Duration;

use crate::fast_open;
use crate::socket::Kind;
use crate::tcp_info;
use crate::world::{Answer, World};

/// Of headers newer than libc's (include/uapi/linux/tcp.h).
const TCP_INQ: i32 = 36;
const TCP_CC_INFO: i32 = 26;
const SO_MEMINFO: i32 = 55;
const TCP_RTO_MIN_US: i32 = 45;
const TCP_FASTOPEN_KEY: i32 = 33;
const TCP_FASTOPEN_NO_COOKIE: i32 = 34;
/// The MSS of a SYN with an MTU of 1500.
const OFFERED_MSS: u32 = 1460;
/// The MSS of a peer that sends no option (RFC 9293 §3.7.1).
const DEFAULT_MSS: i32 = 536;

impl World {
    pub fn set_option(&mut self, descriptor: i32, level: i32, name: i32, value: &[u8]) -> Answer {
        self.set(descriptor, level, name, value)?;
        // Connections inherit settings of their listener made while they waited.
        let socket = self.socket(descriptor)?;
        if let Kind::Listens(listener) = socket.kind {
            socket.kind = Kind::Fresh;
            let backlog = socket.backlog;
            let now = self.now;
            self.endpoint.close_listener(now, listener);
            return self.listen(descriptor, backlog);
        }
        Ok(0)
    }

    fn set(&mut self, descriptor: i32, level: i32, name: i32, value: &[u8]) -> Answer {
        let number = number(value);
        let connection = self.connection(descriptor).ok();
        let socket = self.socket(descriptor)?;
        match (level, name) {
            (libc::SOL_SOCKET, libc::SO_LINGER) => {
                let seconds = value.get(4..8).map_or(0, self::number);
                socket.linger = (number != 0).then_some(seconds);
            }
            (libc::SOL_SOCKET, libc::SO_RCVLOWAT) => {
                let bytes = usize::try_from(number).unwrap_or(1).max(1);
                socket.options.readable_from = bytes;
                let writable_from = socket.options.writable_from;
                if let Some(id) = connection {
                    let _ = self.endpoint.set_low_water(id, bytes, writable_from);
                }
            }
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => {
                // Linux allocates and reports twice as much, for overhead.
                let bytes = 2 * usize::try_from(number).unwrap_or(0).max(2304);
                socket.options.send_buffer = bytes;
                let receive = socket.options.config.receive_buffer;
                if let Some(id) = connection {
                    let _ = self.endpoint.set_buffers(id, bytes, receive);
                }
            }
            // No effect on the wire here, or refused when used.
            (
                libc::SOL_SOCKET,
                libc::SO_REUSEADDR | libc::SO_ZEROCOPY | libc::SO_DEBUG | libc::SO_KEEPALIVE,
            )
            | (libc::IPPROTO_IP | libc::IPPROTO_IPV6, _) => {}
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => {
                socket.options.no_delay = number != 0;
                if number != 0 {
                    socket.corked = false;
                }
                self.apply_small_segments(descriptor);
            }
            (libc::IPPROTO_TCP, libc::TCP_CORK) => {
                socket.corked = number != 0;
                self.apply_small_segments(descriptor);
            }
            (libc::IPPROTO_TCP, libc::TCP_FASTOPEN) => {
                socket.fast_open.pending = usize::try_from(number).map_err(|_| libc::EINVAL)?;
            }
            (libc::IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT) => {
                socket.fast_open.defers = fast_open::may_defer(number)?;
            }
            (libc::IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE) => {
                socket.fast_open.without_cookie = number != 0;
            }
            (libc::IPPROTO_TCP, TCP_FASTOPEN_KEY) => {
                socket.fast_open.keys = Some(fast_open::keys_of_option(value)?);
            }
            (libc::IPPROTO_TCP, libc::TCP_SYNCNT) => {
                let retries = u8::try_from(number).map_err(|_| libc::EINVAL)?;
                let mut config = *socket.options.config;
                config.limits.syn_retries = retries;
                socket.options.config = config.into();
                if let Some(id) = connection {
                    let _ = self.endpoint.set_syn_retries(id, retries);
                }
            }
            // Scripts only have silence shorter than a keep-alive's.
            (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => {}
            (libc::IPPROTO_TCP, TCP_INQ) => socket.tells_queue = number != 0,
            (libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT) => {
                socket.not_sent_low_water = number.cast_unsigned();
                let bytes = match number.cast_unsigned() {
                    0 => usize::MAX,
                    bytes => bytes as usize,
                };
                socket.options.unsent_below = bytes;
                if let Some(id) = connection {
                    let _ = self.endpoint.set_unsent_below(id, bytes);
                }
            }
            (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => {
                let most = u64::try_from(number).ok().filter(|&most| most > 0);
                let most = most.map(Duration::from_millis);
                let mut config = *socket.options.config;
                config.limits.user_timeout = most;
                socket.options.config = config.into();
                if let Some(id) = connection {
                    let _ = self.endpoint.set_user_timeout(id, most);
                }
            }
            (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
                socket.wanted_mss = Some(number);
                let mut config = *socket.options.config;
                // The socket's value includes the timestamps, as the option on the wire does.
                let stamps = if config.timestamps { 12 } else { 0 };
                let wanted = u32::try_from(number).unwrap_or(0).saturating_sub(stamps);
                config.mss = config.mss.min(wanted.max(1));
                socket.options.config = config.into();
            }
            (libc::IPPROTO_TCP, TCP_RTO_MIN_US) => {
                let mut config = *socket.options.config;
                config.timeout.min = Duration::from_micros(u64::try_from(number).unwrap_or(0));
                socket.options.config = config.into();
            }
            (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => {
                let name = String::from_utf8_lossy(value);
                let mut config = *socket.options.config;
                let applied =
                    settings::congestion_control(name.trim_end_matches('\0'), &mut config);
                if applied != SettingOutcome::Yes {
                    return Err(libc::ENOENT);
                }
                let control = config.congestion;
                socket.options.config = config.into();
                if let Some(id) = connection {
                    let _ = self.endpoint.set_congestion_control(id, control);
                }
            }
            _ => return Err(libc::ENOPROTOOPT),
        }
        Ok(0)
    }

    fn apply_small_segments(&mut self, descriptor: i32) {
        let Ok(id) = self.connection(descriptor) else {
            return;
        };
        if let Some(socket) = self.sockets.get(&descriptor) {
            let (no_delay, corked) = (socket.options.no_delay, socket.corked);
            let _ = self.endpoint.set_small_segments(id, no_delay, corked);
        }
    }

    /// The value, in the system's memory format.
    pub fn option(&mut self, descriptor: i32, level: i32, name: i32) -> Result<Vec<u8>, i32> {
        let connection = self.connection(descriptor).ok();
        let socket = self.sockets.get(&descriptor).ok_or(libc::EBADF)?;
        let value = match (level, name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => self.take_end(descriptor).unwrap_or(0),
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => i32::from(socket.options.no_delay),
            (libc::IPPROTO_TCP, libc::TCP_CORK) => i32::from(socket.corked),
            (libc::IPPROTO_TCP, TCP_INQ) => i32::from(socket.tells_queue),
            (libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT) => socket.not_sent_low_water.cast_signed(),
            (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
                let wanted = socket.wanted_mss.unwrap_or(DEFAULT_MSS);
                let open = connection.and_then(|id| self.endpoint.stream(id));
                let open = open.filter(|stream| stream.connection().is_synchronized());
                open.map_or(wanted, |stream| {
                    i32::try_from(stream.connection().sender().mss()).unwrap_or(i32::MAX)
                })
            }
            (libc::IPPROTO_TCP, libc::TCP_INFO) => {
                let id = connection.ok_or(libc::ENOTCONN)?;
                let stream = self.endpoint.stream(id).ok_or(libc::ENOTCONN)?;
                let asked = QueryContext {
                    now: self.now,
                    data_received_at: socket.received.1,
                    offered_mss: socket
                        .wanted_mss
                        .and_then(|wanted| u32::try_from(wanted).ok())
                        .map_or(OFFERED_MSS, |wanted| wanted.min(OFFERED_MSS)),
                    stopwatch: &socket.stopwatch,
                };
                return Ok(tcp_info::bytes(&asked, stream.connection()));
            }
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => {
                i32::try_from(socket.options.send_buffer).unwrap_or(i32::MAX)
            }
            // Information from a congestion control, which these do not provide.
            (libc::IPPROTO_TCP, TCP_CC_INFO) => return Ok(Vec::new()),
            // The system's memory, which is not modelled.
            (libc::SOL_SOCKET, SO_MEMINFO) => return Ok(vec![0; 9 * size_of::<u32>()]),
            _ => return Err(libc::ENOPROTOOPT),
        };
        Ok(value.to_ne_bytes().to_vec())
    }

    /// The number requested by an ioctl.
    pub fn queue(&mut self, descriptor: i32, request: u64) -> Result<i32, i32> {
        let id = self.connection(descriptor)?;
        let stream = self.endpoint.stream(id).ok_or(libc::ENOTCONN)?;
        let sender = stream.connection().sender();
        let bytes = match request {
            libc::FIONREAD => stream.available() as u64,
            libc::TIOCOUTQ => sender.written() - sender.una().min(sender.written()),
            // SIOCOUTQNSD.
            0x894b => sender.written() - sender.nxt().min(sender.written()),
            _ => return Err(libc::EINVAL),
        };
        Ok(i32::try_from(bytes).unwrap_or(i32::MAX))
    }

    pub fn control(&mut self, descriptor: i32, command: i32, value: i64) -> Answer {
        let socket = self.socket(descriptor)?;
        if let Kind::Epoll(_) = socket.kind {
            return Err(libc::EINVAL);
        }
        match command {
            libc::F_GETFL => {
                let waits = if socket.non_blocking {
                    libc::O_NONBLOCK
                } else {
                    0
                };
                Ok((libc::O_RDWR | waits) as isize)
            }
            libc::F_SETFL => {
                socket.non_blocking = value & i64::from(libc::O_NONBLOCK) != 0;
                Ok(0)
            }
            _ => Err(libc::EINVAL),
        }
    }
}

/// An `int`; zero if the buffer is too short for one.
fn number(value: &[u8]) -> i32 {
    value
        .first_chunk()
        .map_or(0, |bytes| i32::from_ne_bytes(*bytes))
}

//! The rows of the table of socket options.

use airtcp_units::Duration;

use super::super::constants::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_SOCKET};
use super::super::errno::Errno;
use super::super::fast_open_options::keys_of_option;
use super::super::table::{Sockets, System};
use super::row::{Get, Row, Set, int, number};

/// Counters of `SO_MEMINFO` (Linux, `SK_MEMINFO_VARS`).
const MEMINFO_BYTES: usize = 9 * 4;

impl<S: System + 'static> Row<S> {
    /// By level, then in the order of Linux's numbers.
    pub const TABLE: &'static [Self] = &[
        Self::ignored(SOL_SOCKET, 1, "SO_DEBUG"),
        Self::ignored(SOL_SOCKET, 2, "SO_REUSEADDR"),
        Self::read_only(
            SOL_SOCKET,
            4,
            "SO_ERROR",
            Get::Number(|all, one| {
                all.socket(one)?;
                Ok(all.take_end(one).map_or(0, Errno::number))
            }),
        ),
        Self(
            SOL_SOCKET,
            7,
            "SO_SNDBUF",
            Set::Number(Sockets::set_send_buffer),
            Get::Number(|all, one| Ok(int(all.socket(one)?.options.send_buffer))),
        ),
        Self::ignored(SOL_SOCKET, 9, "SO_KEEPALIVE"),
        Self(
            SOL_SOCKET,
            13,
            "SO_LINGER",
            Set::Bytes(8, |all, one, value| {
                let seconds = value.get(4..).map_or(0, number);
                all.socket_mut(one)?.linger = (number(value) != 0).then_some(seconds);
                Ok(())
            }),
            Get::Never,
        ),
        Self(
            SOL_SOCKET,
            18,
            "SO_RCVLOWAT",
            Set::Number(Sockets::set_low_water),
            Get::Number(|all, one| Ok(int(all.socket(one)?.options.readable_from))),
        ),
        Self(
            SOL_SOCKET,
            32,
            "SO_SNDBUFFORCE",
            Set::Number(Sockets::set_send_buffer),
            Get::Never,
        ),
        Self::ignored(SOL_SOCKET, 36, "SO_MARK"),
        // The system's memory, which is not modelled.
        Self::read_only(
            SOL_SOCKET,
            55,
            "SO_MEMINFO",
            Get::Bytes(|_, _| Ok(vec![0; MEMINFO_BYTES])),
        ),
        Self(
            SOL_SOCKET,
            60,
            "SO_ZEROCOPY",
            Set::Number(|all, one, value| {
                all.socket_mut(one)?.notices.wanted = value != 0;
                Ok(())
            }),
            Get::Number(|all, one| Ok(all.socket(one)?.notices.wanted.into())),
        ),
        Self::ignored(IPPROTO_IP, 1, "IP_TOS"),
        Self::ignored(IPPROTO_IP, 10, "IP_MTU_DISCOVER"),
        Self::ignored(IPPROTO_IP, 11, "IP_RECVERR"),
        Self::ignored(IPPROTO_IP, 24, "IP_BIND_ADDRESS_NO_PORT"),
        Self::ignored(IPPROTO_IPV6, 25, "IPV6_RECVERR"),
        Self::ignored(IPPROTO_IPV6, 26, "IPV6_V6ONLY"),
        Self(
            IPPROTO_TCP,
            1,
            "TCP_NODELAY",
            Set::Number(|all, one, value| {
                let socket = all.socket_mut(one)?;
                socket.options.no_delay = value != 0;
                socket.corked &= value == 0;
                all.apply_small_segments(one)
            }),
            Get::Number(|all, one| Ok(all.socket(one)?.options.no_delay.into())),
        ),
        Self(
            IPPROTO_TCP,
            2,
            "TCP_MAXSEG",
            Set::Number(Sockets::set_wanted_mss),
            Get::Number(Sockets::mss),
        ),
        Self(
            IPPROTO_TCP,
            3,
            "TCP_CORK",
            Set::Number(|all, one, value| {
                all.socket_mut(one)?.corked = value != 0;
                all.apply_small_segments(one)
            }),
            Get::Number(|all, one| Ok(all.socket(one)?.corked.into())),
        ),
        // Silence in scripts is shorter than a keep-alive's.
        Self::ignored(IPPROTO_TCP, 4, "TCP_KEEPIDLE"),
        Self(
            IPPROTO_TCP,
            7,
            "TCP_SYNCNT",
            Set::Number(Sockets::set_syn_retries),
            Get::Number(|all, one| {
                let retries = all.socket(one)?.options.config.limits.syn_retries;
                Ok(retries.into())
            }),
        ),
        Self::read_only(
            IPPROTO_TCP,
            11,
            "TCP_INFO",
            Get::Bytes(|all, one| {
                let id = all.connection(one)?;
                Ok(all.tcp_info(id).ok_or(Errno::ENOTCONN)?.bytes())
            }),
        ),
        Self(
            IPPROTO_TCP,
            13,
            "TCP_CONGESTION",
            Set::Bytes(1, Sockets::set_congestion_control),
            Get::Never,
        ),
        Self(
            IPPROTO_TCP,
            18,
            "TCP_USER_TIMEOUT",
            Set::Number(Sockets::set_user_timeout),
            Get::Never,
        ),
        Self(
            IPPROTO_TCP,
            23,
            "TCP_FASTOPEN",
            Set::Number(|all, one, value| {
                let pending = usize::try_from(value).map_err(|_| Errno::EINVAL)?;
                all.socket_mut(one)?.fast_open.pending = pending;
                Ok(())
            }),
            Get::Number(|all, one| Ok(int(all.socket(one)?.fast_open.pending))),
        ),
        Self(
            IPPROTO_TCP,
            25,
            "TCP_NOTSENT_LOWAT",
            Set::Number(Sockets::set_not_sent_low_water),
            Get::Number(|all, one| Ok(all.socket(one)?.not_sent_low_water.cast_signed())),
        ),
        // Information from a congestion control, which these do not provide.
        Self::read_only(
            IPPROTO_TCP,
            26,
            "TCP_CC_INFO",
            Get::Bytes(|_, _| Ok(Vec::new())),
        ),
        Self(
            IPPROTO_TCP,
            30,
            "TCP_FASTOPEN_CONNECT",
            Set::Number(|all, one, value| {
                let defers = all.may_defer(value)?;
                all.socket_mut(one)?.fast_open.defers = defers;
                Ok(())
            }),
            Get::Number(|all, one| Ok(all.socket(one)?.fast_open.defers.into())),
        ),
        Self(
            IPPROTO_TCP,
            33,
            "TCP_FASTOPEN_KEY",
            Set::Bytes(1, |all, one, value| {
                all.socket_mut(one)?.fast_open.keys = Some(keys_of_option(value)?);
                Ok(())
            }),
            Get::Never,
        ),
        Self(
            IPPROTO_TCP,
            34,
            "TCP_FASTOPEN_NO_COOKIE",
            Set::Number(|all, one, value| {
                all.socket_mut(one)?.fast_open.without_cookie = value != 0;
                Ok(())
            }),
            Get::Number(|all, one| Ok(all.socket(one)?.fast_open.without_cookie.into())),
        ),
        Self(
            IPPROTO_TCP,
            36,
            "TCP_INQ",
            Set::Number(|all, one, value| {
                all.socket_mut(one)?.tells_queue = value != 0;
                Ok(())
            }),
            Get::Number(|all, one| Ok(all.socket(one)?.tells_queue.into())),
        ),
        Self(
            IPPROTO_TCP,
            45,
            "TCP_RTO_MIN_US",
            Set::Number(|all, one, value| {
                let micros = u64::try_from(value).map_err(|_| Errno::EINVAL)?;
                all.configure(one, |config| {
                    config.timeout.min = Duration::from_micros(micros);
                })
            }),
            Get::Never,
        ),
    ];
}

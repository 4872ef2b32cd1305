//! Linux's names of flags, commands and levels, with their numbers (include/uapi): by name for
//! scripts, by number for callers in C.

macro_rules! constants {
    ($($name:ident: $type:ty = $number:expr;)*) => {
        $(#[doc = concat!("`", stringify!($name), "`.")] pub const $name: $type = $number;)*

        /// Every name with its number.
        const NAMES: &[(&str, i64)] = &[$((stringify!($name), $name as i64),)*];
    };
}

constants! {
    SOCK_STREAM: i32 = 1;
    SOCK_NONBLOCK: i32 = 0o4000;
    SOCK_CLOEXEC: i32 = 0o2_000_000;
    IPPROTO_IP: i32 = 0;
    IPPROTO_TCP: i32 = 6;
    IPPROTO_IPV6: i32 = 41;
    SOL_IP: i32 = 0;
    SOL_SOCKET: i32 = 1;
    SOL_TCP: i32 = 6;
    SOL_IPV6: i32 = 41;

    IP_PMTUDISC_DONT: i32 = 0;
    IP_PMTUDISC_WANT: i32 = 1;
    IP_PMTUDISC_DO: i32 = 2;
    IP_PMTUDISC_PROBE: i32 = 3;

    MSG_OOB: i32 = 0x1;
    MSG_PEEK: i32 = 0x2;
    MSG_DONTWAIT: i32 = 0x40;
    MSG_EOR: i32 = 0x80;
    MSG_ERRQUEUE: i32 = 0x2000;
    MSG_NOSIGNAL: i32 = 0x4000;
    MSG_MORE: i32 = 0x8000;
    MSG_ZEROCOPY: i32 = 0x400_0000;
    MSG_FASTOPEN: i32 = 0x2000_0000;

    SHUT_RD: i32 = 0;
    SHUT_WR: i32 = 1;
    SHUT_RDWR: i32 = 2;

    F_GETFL: i32 = 3;
    F_SETFL: i32 = 4;
    O_RDWR: i32 = 2;
    O_NONBLOCK: i32 = 0o4000;

    FIONREAD: u64 = 0x541b;
    SIOCINQ: u64 = FIONREAD;
    TIOCOUTQ: u64 = 0x5411;
    SIOCOUTQ: u64 = TIOCOUTQ;
    SIOCOUTQNSD: u64 = 0x894b;

    EPOLL_CTL_ADD: i32 = 1;
    EPOLL_CTL_DEL: i32 = 2;
    EPOLL_CTL_MOD: i32 = 3;
    EPOLLIN: u32 = 0x1;
    EPOLLPRI: u32 = 0x2;
    EPOLLOUT: u32 = 0x4;
    EPOLLERR: u32 = 0x8;
    EPOLLHUP: u32 = 0x10;
    EPOLLRDHUP: u32 = 0x2000;
    EPOLLEXCLUSIVE: u32 = 1 << 28;
    EPOLLONESHOT: u32 = 1 << 30;
    EPOLLET: u32 = 1 << 31;
}

/// The number of an expression: names and numbers joined by `|`.
#[must_use]
pub fn value(text: &str) -> Option<i64> {
    let mut parts = text.split('|').map(str::trim);
    parts.try_fold(0, |sum, part| {
        let named = NAMES.iter().find(|(name, _)| *name == part);
        let number = match named {
            Some((_, number)) => Some(*number),
            None => match part.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16).ok(),
                None => part.parse().ok(),
            },
        };
        Some(sum | number?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_joined() {
        assert_eq!(value("MSG_DONTWAIT|MSG_EOR"), Some(0xc0));
        assert_eq!(value("O_RDWR | 0x800"), Some(0x802));
        assert_eq!(value("0"), Some(0));
        assert_eq!(value("MSG_NO_SUCH"), None);
        assert_eq!(value(""), None);
    }
}

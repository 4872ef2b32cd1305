//! Conversion of C's memory: addresses, buffers to read into and write from, errno.
#![expect(unsafe_code, reason = "the other side is C")]

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::slice;

use airtcp_script::posix::{Descriptor, Errno, Outcome, Outgoing};
use libc::{c_int, iovec, sockaddr, socklen_t};

use crate::machine::machine;
use crate::world::Answer;

/// The result of a call in C: -1 and errno for an error.
pub fn said(answer: Answer) -> isize {
    answer.unwrap_or_else(|error| {
        // SAFETY: it points to this thread's errno.
        unsafe { *libc::__errno_location() = error.number() };
        -1
    })
}

pub fn said_int(answer: Answer) -> c_int {
    said(answer) as c_int
}

/// The answer of a call that returns nothing.
pub fn nothing(result: Result<(), Errno>) -> Answer {
    result.map(|()| 0)
}

/// The answer of a call that returns a descriptor.
pub fn descriptor(result: Result<Descriptor, Errno>) -> Answer {
    result.map(|descriptor| descriptor as isize)
}

/// An address of packetdrill's.
pub fn address(from: *const sockaddr, length: socklen_t) -> Result<SocketAddr, Errno> {
    if from.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: packetdrill hands in addresses of the stated length.
    unsafe {
        match i32::from((*from).sa_family) {
            libc::AF_INET if length as usize >= size_of::<libc::sockaddr_in>() => {
                let at = from.cast::<libc::sockaddr_in>().read_unaligned();
                let ip = Ipv4Addr::from_bits(u32::from_be(at.sin_addr.s_addr));
                Ok(SocketAddrV4::new(ip, u16::from_be(at.sin_port)).into())
            }
            libc::AF_INET6 if length as usize >= size_of::<libc::sockaddr_in6>() => {
                let at = from.cast::<libc::sockaddr_in6>().read_unaligned();
                let ip = Ipv6Addr::from(at.sin6_addr.s6_addr);
                let port = u16::from_be(at.sin6_port);
                // An IPv4 address in IPv6's clothes is IPv4 on the wire (RFC 4291 §2.5.5.2).
                Ok(match ip.to_ipv4_mapped() {
                    Some(ip) => SocketAddrV4::new(ip, port).into(),
                    None => SocketAddrV6::new(ip, port, 0, 0).into(),
                })
            }
            libc::AF_UNSPEC => Err(Errno::EOPNOTSUPP),
            _ => Err(Errno::EINVAL),
        }
    }
}

/// Writes an address to packetdrill's memory.
pub fn tell(who: SocketAddr, to: *mut sockaddr, length: *mut socklen_t) {
    if to.is_null() || length.is_null() {
        return;
    }
    // SAFETY: packetdrill hands in room for an address of any family.
    unsafe {
        match who {
            SocketAddr::V4(who) => {
                let mut at: libc::sockaddr_in = std::mem::zeroed();
                at.sin_family = libc::AF_INET as u16;
                at.sin_port = who.port().to_be();
                at.sin_addr.s_addr = who.ip().to_bits().to_be();
                to.cast::<libc::sockaddr_in>().write_unaligned(at);
                *length = size_of::<libc::sockaddr_in>() as socklen_t;
            }
            SocketAddr::V6(who) => {
                let mut at: libc::sockaddr_in6 = std::mem::zeroed();
                at.sin6_family = libc::AF_INET6 as u16;
                at.sin6_port = who.port().to_be();
                at.sin6_addr.s6_addr = who.ip().octets();
                to.cast::<libc::sockaddr_in6>().write_unaligned(at);
                *length = size_of::<libc::sockaddr_in6>() as socklen_t;
            }
        }
    }
}

/// A pointer for a blocking call: packetdrill keeps its target until the call returns.
#[derive(Clone, Copy)]
pub struct HeldPointer<T>(pub *mut T);

// SAFETY: one thread at a time uses it, under the machine's lock.
unsafe impl<T> Send for HeldPointer<T> {}

impl<T> HeldPointer<T> {
    pub const fn get(self) -> *mut T {
        self.0
    }
}

/// Reads into pieces of memory.
pub fn read_into(fd: c_int, pieces: Vec<(HeldPointer<u8>, usize)>, flags: c_int) -> Answer {
    if pieces
        .iter()
        .any(|(at, length)| at.get().is_null() && *length > 0)
    {
        return Err(Errno::EFAULT);
    }
    machine().wait(move |world| {
        let mut total = 0;
        for (at, length) in &pieces {
            if *length == 0 && pieces.len() > 1 {
                continue;
            }
            // SAFETY: packetdrill keeps the memory until the call returns.
            let into = match *length {
                0 => &mut [],
                length => unsafe { slice::from_raw_parts_mut(at.get(), length) },
            };
            match world.sockets.read(fd, into, flags) {
                Outcome::Ready(Ok(count)) => {
                    total += count;
                    if count < into.len() {
                        break;
                    }
                }
                _ if total > 0 => break,
                other => return other.map_ok(|count| count as isize),
            }
        }
        Outcome::Ready(Ok(total as isize))
    })
}

/// Writes pieces of memory one after the other; `destination` is the server if that opens the
/// connection.
pub fn write_from(
    fd: c_int,
    pieces: &[(HeldPointer<u8>, usize)],
    flags: c_int,
    destination: Result<SocketAddr, Errno>,
) -> Answer {
    let mut bytes = Vec::new();
    for (at, length) in pieces {
        if *length == 0 {
            continue;
        }
        if at.get().is_null() {
            return Err(Errno::EFAULT);
        }
        // SAFETY: packetdrill hands in memory of that length.
        bytes.extend_from_slice(unsafe { slice::from_raw_parts(at.get(), *length) });
    }
    let mut message = Outgoing::new(bytes, flags, destination);
    machine().wait(move |world| {
        let written = world.sockets.write(fd, &mut message);
        written.map_ok(|count| count as isize)
    })
}

/// The pieces of an iovec.
pub fn pieces(from: *const iovec, count: usize) -> Vec<(HeldPointer<u8>, usize)> {
    if from.is_null() {
        return Vec::new();
    }
    // SAFETY: packetdrill hands in `count` of them.
    let pieces = unsafe { slice::from_raw_parts(from, count) };
    pieces
        .iter()
        .map(|piece| (HeldPointer(piece.iov_base.cast()), piece.iov_len))
        .collect()
}

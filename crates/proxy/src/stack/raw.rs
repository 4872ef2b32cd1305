//! Packets with other hosts' addresses: by raw sockets, along the machine's routes (raw(7)).
//!
//! Written into a TUN device such a packet would count as received, and be forwarded. The kernel
//! drops it there if it seems to belong to a local connection (`ip_forward`), for instance if the
//! other half of that connection is a transparent socket, or if it would not route to the source by
//! that device (`rp_filter`).

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use airtcp_host::error::{Error, Result};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, ipproto, sendmsg_addr,
    socket_with, sockopt,
};

/// Maximum queue for a device, in bytes: the device's queue should be the bound.
const WAITING: usize = 16 << 20;

/// Sockets of both families.
#[derive(Debug)]
pub struct Raw {
    v4: OwnedFd,
    /// `None` if the machine has no IPv6.
    v6: Option<OwnedFd>,
}

impl Raw {
    /// Opens the sockets in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The process lacks the privilege.
    pub fn new() -> Result<Self> {
        let made = |family| {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = socket_with(family, SocketType::RAW, flags, Some(ipproto::RAW))?;
            if sockopt::set_socket_send_buffer_size_force(&socket, WAITING).is_err() {
                sockopt::set_socket_send_buffer_size(&socket, WAITING)?;
            }
            Ok(socket)
        };
        let v6 = match made(AddressFamily::INET6) {
            Err(Errno::AFNOSUPPORT) => Ok(None),
            socket => socket.map(Some),
        };
        match (made(AddressFamily::INET), v6) {
            (Ok(v4), Ok(v6)) => Ok(Self { v4, v6 }),
            (Err(cause), _) | (_, Err(cause)) => Err(Error::system(
                "cannot send packets with others' addresses",
                cause,
            )
            .remedied_by("raw sockets need CAP_NET_RAW: run the proxy as root")),
        }
    }

    /// Sends a packet in pieces, the first with the whole IP header. Returns whether the kernel
    /// took it: a packet that is too long for the device, or has no route or no room, is lost, as
    /// on any network.
    pub fn send<const N: usize>(&self, pieces: [&[u8]; N]) -> bool {
        let Some(to) = pieces.first().and_then(|header| destination(header)) else {
            return false;
        };
        let socket = match to {
            IpAddr::V4(_) => Some(&self.v4),
            IpAddr::V6(_) => self.v6.as_ref(),
        };
        let pieces = pieces.map(IoSlice::new);
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let mut nothing = SendAncillaryBuffer::default();
        let to = SocketAddr::new(to, 0);
        socket.is_some_and(|socket| sendmsg_addr(socket, &to, &pieces, &mut nothing, flags).is_ok())
    }
}

/// The destination of a packet; `None` for multicast, which a router never forwards to one of two
/// ends.
pub fn destination(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => {
            let octets: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
            let address = Ipv4Addr::from(octets);
            (!address.is_multicast() && !address.is_broadcast()).then_some(address.into())
        }
        6 => {
            let octets: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
            let address = Ipv6Addr::from(octets);
            (!address.is_multicast()).then_some(address.into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_goes_to_one() {
        let mut v4 = [0; 20];
        v4[0] = 0x45;
        v4[16..].copy_from_slice(&[192, 0, 2, 7]);
        assert_eq!(destination(&v4), Some(IpAddr::from([192, 0, 2, 7])));
        for length in 0..20 {
            assert_eq!(destination(&v4[..length]), None, "{length}");
        }
        v4[16] = 224;
        assert_eq!(destination(&v4), None);
        let mut v6 = [0; 40];
        v6[0] = 0x60;
        v6[39] = 1;
        assert_eq!(destination(&v6), Some(IpAddr::from(Ipv6Addr::LOCALHOST)));
        v6[24] = 0xff;
        assert_eq!(destination(&v6), None);
    }
}

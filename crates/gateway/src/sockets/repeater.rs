//! Retransmits packets for agents: out of the device towards the mobiles, by raw sockets that send
//! IP headers unchanged. They bypass the rules for forwarded packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::socket_option;
use rustix::net::{
    AddressFamily, Protocol, SendFlags, SocketFlags, SocketType, sendto, socket_with,
};

/// IPPROTO_RAW of linux/in.h: the program supplies the header.
const RAW: Protocol = rustix::net::ipproto::RAW;

/// Sends packets into the network.
#[derive(Debug)]
pub struct Repeater {
    ipv4: OwnedFd,
    ipv6: OwnedFd,
}

impl Repeater {
    /// Opens sockets that send out of `device`.
    ///
    /// # Errors
    ///
    /// The system does not allow it.
    pub fn new(device: &str) -> Result<Self> {
        Ok(Self {
            ipv4: raw(AddressFamily::INET, device)?,
            ipv6: raw(AddressFamily::INET6, device)?,
        })
    }

    /// Sends a packet. Returns whether the kernel took it: a full queue drops it, as on any link.
    pub fn send(&self, packet: &[u8]) -> bool {
        let sent = match packet.first().map(|first| first >> 4) {
            Some(4) if packet.len() >= 20 => {
                let address = Ipv4Addr::new(packet[16], packet[17], packet[18], packet[19]);
                let to = SocketAddr::new(IpAddr::V4(address), 0);
                sendto(&self.ipv4, packet, SendFlags::DONTWAIT, &to)
            }
            Some(6) if packet.len() >= 40 => {
                let address: [u8; 16] = std::array::from_fn(|byte| packet[24 + byte]);
                let to = SocketAddr::new(IpAddr::V6(Ipv6Addr::from(address)), 0);
                sendto(&self.ipv6, packet, SendFlags::DONTWAIT, &to)
            }
            _ => return false,
        };
        sent.is_ok()
    }
}

fn raw(family: AddressFamily, device: &str) -> Result<OwnedFd> {
    let failed = || format!("cannot send packets out of {device}");
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::RAW, flags, Some(RAW)).map_err(|cause| {
        Error::system(failed(), cause)
            .remedied_by("it needs CAP_NET_RAW: run it as root, or by the systemd unit")
    })?;
    // The name ends with a zero.
    let mut name = [0_u8; 16];
    for (place, byte) in name.iter_mut().take(15).zip(device.bytes()) {
        *place = byte;
    }
    socket_option::set(&socket, libc::SOL_SOCKET, libc::SO_BINDTODEVICE, &name).tried(failed)?;
    Ok(socket)
}

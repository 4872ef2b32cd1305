//! Existing devices by name: index, state, MTU and addresses.

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::net::{AddressFamily as SocketFamily, SocketFlags, SocketType, netdevice, socket_with};

use crate::error::{Result, Tried};
use crate::netlink::route::{ask, request};

/// An address with its network's prefix length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The host's address.
    pub address: IpAddr,
    /// Bits of the prefix.
    pub prefix: u8,
}

/// Brings a device up in the calling thread's namespace.
///
/// # Errors
///
/// There is no such device.
pub fn bring_up(name: &str) -> Result<()> {
    let mut message = LinkMessage::default();
    message.header.index = index(name)?;
    message.header.flags = LinkFlags::Up;
    message.header.change_mask = LinkFlags::Up;
    request(&RouteNetlinkMessage::SetLink(message), 0).tried(|| format!("cannot bring {name} up"))
}

/// Removes a virtual device of the calling thread's namespace.
///
/// # Errors
///
/// There is no such device, or it is a physical one.
pub fn remove(name: &str) -> Result<()> {
    let mut message = LinkMessage::default();
    message.header.index = index(name)?;
    request(&RouteNetlinkMessage::DelLink(message), 0).tried(|| format!("cannot remove {name}"))
}

/// The index of a device in the calling thread's namespace.
///
/// # Errors
///
/// There is no such device.
pub fn index(name: &str) -> Result<u32> {
    by_socket(|socket| netdevice::name_to_index(socket, name))
        .tried(|| format!("cannot find {name}"))
}

/// The name of the device with that index in the calling thread's namespace.
///
/// # Errors
///
/// There is no such device.
pub fn name_of(index: u32) -> Result<String> {
    by_socket(|socket| netdevice::index_to_name(socket, index))
        .tried(|| format!("cannot find device {index}"))
}

/// The longest packet that a device in the namespace of the calling thread takes, in bytes.
///
/// # Errors
///
/// There is no such device.
pub fn mtu(name: &str) -> Result<u32> {
    let failed = || format!("cannot read the MTU of {name}");
    let mut question = LinkMessage::default();
    question.header.index = index(name)?;
    let answer = ask(&RouteNetlinkMessage::GetLink(question)).tried(failed)?;
    let found = match answer {
        RouteNetlinkMessage::NewLink(link) => link.attributes.iter().find_map(mtu_of),
        _ => None,
    };
    found
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
        .tried(failed)
}

/// Sets the longest packet that a device in the namespace of the calling thread takes, in bytes.
///
/// # Errors
///
/// There is no such device, or it takes no such packets.
pub fn set_mtu(name: &str, bytes: u16) -> Result<()> {
    let mut message = LinkMessage::default();
    message.header.index = index(name)?;
    message.attributes = vec![LinkAttribute::Mtu(bytes.into())];
    request(&RouteNetlinkMessage::SetLink(message), 0)
        .tried(|| format!("cannot set the MTU of {name} to {bytes}"))
}

const fn mtu_of(attribute: &LinkAttribute) -> Option<u32> {
    match attribute {
        LinkAttribute::Mtu(bytes) => Some(*bytes),
        _ => None,
    }
}

/// Gives a device of the calling thread's namespace an address.
///
/// # Errors
///
/// There is no such device, or the kernel refuses the address.
pub fn add_address(name: &str, network: Network) -> Result<()> {
    let mut message = AddressMessage::default();
    message.header.index = index(name)?;
    message.header.prefix_len = network.prefix;
    message.header.family = match network.address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    };
    message.attributes = vec![
        AddressAttribute::Local(network.address),
        AddressAttribute::Address(network.address),
    ];
    request(
        &RouteNetlinkMessage::NewAddress(message),
        NLM_F_CREATE | NLM_F_EXCL,
    )
    .tried(|| format!("cannot give {name} the address {}", network.address))
}

/// Asks through a socket, which is bound to the calling thread's namespace (netdevice(7)).
fn by_socket<T>(ask: impl Fn(&rustix::fd::OwnedFd) -> rustix::io::Result<T>) -> io::Result<T> {
    let kind = SocketType::DGRAM;
    let socket = socket_with(SocketFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
    Ok(ask(&socket)?)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::device::pair;
    use crate::namespace::Namespace;

    /// A pair of devices has the requested MTU and takes an address once.
    #[test]
    fn a_device_is_found_by_name_and_by_index() {
        let Ok(namespace) = Namespace::new() else {
            airtcp_needs::skip("namespaces need root");
            return;
        };
        namespace
            .enter(|| {
                pair::make("here", "there", &Namespace::current()?, 1300)?;
                assert_eq!(name_of(index("here")?)?, "here");
                assert_eq!((mtu("here")?, mtu("there")?), (1300, 1300));
                bring_up("here")?;
                let network = Network {
                    address: Ipv4Addr::new(192, 0, 2, 1).into(),
                    prefix: 24,
                };
                add_address("here", network)?;
                let twice = add_address("here", network).unwrap_err().to_string();
                assert!(twice.contains("192.0.2.1"), "{twice}");
                // The kernel routes it to this host, hence the device has it.
                std::net::UdpSocket::bind("192.0.2.1:0").unwrap();
                let absent = index("absent").unwrap_err().to_string();
                assert!(absent.contains("cannot find absent"), "{absent}");
                assert!(mtu("absent").is_err() && bring_up("absent").is_err());
                Ok(())
            })
            .unwrap();
    }
}

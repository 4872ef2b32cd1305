//! Existing devices by name: index, state, MTU and addresses.

use std::io;
use std::net::IpAddr;

use libc::{IFF_UP, IFLA_MTU, RTM_DELLINK, RTM_GETLINK, RTM_SETLINK};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};

use crate::error::{Result, Tried};
use crate::netlink::frame::{attribute, word};
use crate::netlink::route::{self, ask, device, of_device, request};

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
    let message = device(index(name)?, IFF_UP as u32, &[]);
    request(RTM_SETLINK, 0, &message).tried(|| format!("cannot bring {name} up"))
}

/// Removes a virtual device of the calling thread's namespace.
///
/// # Errors
///
/// There is no such device, or it is a physical one.
pub fn remove(name: &str) -> Result<()> {
    let message = device(index(name)?, 0, &[]);
    request(RTM_DELLINK, 0, &message).tried(|| format!("cannot remove {name}"))
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
    let answer = ask(RTM_GETLINK, &device(index(name)?, 0, &[])).tried(failed)?;
    of_device(&answer, IFLA_MTU)
        .and_then(|value| word(value, 0))
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
        .tried(failed)
}

/// Sets the longest packet that a device in the namespace of the calling thread takes, in bytes.
///
/// # Errors
///
/// There is no such device, or it takes no such packets.
pub fn set_mtu(name: &str, bytes: u16) -> Result<()> {
    let mtu = attribute(IFLA_MTU, &u32::from(bytes).to_ne_bytes());
    request(RTM_SETLINK, 0, &device(index(name)?, 0, &[mtu]))
        .tried(|| format!("cannot set the MTU of {name} to {bytes}"))
}

/// Gives a device of the calling thread's namespace an address.
///
/// # Errors
///
/// There is no such device, or the kernel refuses the address.
pub fn add_address(name: &str, network: Network) -> Result<()> {
    let Network { address, prefix } = network;
    route::add_address(index(name)?, address, prefix, NLM_F_CREATE | NLM_F_EXCL)
        .tried(|| format!("cannot give {name} the address {}", network.address))
}

/// Asks through a socket, which is bound to the calling thread's namespace (netdevice(7)).
fn by_socket<T>(ask: impl Fn(&rustix::fd::OwnedFd) -> rustix::io::Result<T>) -> io::Result<T> {
    let kind = SocketType::DGRAM;
    let socket = socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
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

//! Requests to rtnetlink(7) about devices, addresses and routes, and their answers. Structures and
//! numbers are those of include/uapi/linux/rtnetlink.h and if_link.h.

use std::io;
use std::net::IpAddr;

use libc::{RTM_NEWADDR, c_uchar};
use netlink_packet_core::NLM_F_ACK;

use super::frame::{attribute, find};
use super::{Answer, Connection, Part};

/// Bytes of struct ifinfomsg, with which messages about devices begin.
const DEVICE: usize = 16;

/// Requests a change from the kernel in the calling thread's namespace: `kind` is that of the
/// message; `flags` are added to every request's.
///
/// # Errors
///
/// The kernel's error.
pub fn request(kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
    Connection::open(Part::Route)?
        .exchange(kind, NLM_F_ACK | flags, body)
        .map(drop)
}

/// Asks the kernel for one object in the calling thread's namespace.
///
/// # Errors
///
/// The kernel's error, or no answer.
pub fn ask(kind: u16, body: &[u8]) -> io::Result<Answer> {
    let answers = Connection::open(Part::Route)?.exchange(kind, 0, body)?;
    let answer = answers.into_iter().next();
    answer.ok_or_else(|| io::Error::other("the kernel's answer has no object"))
}

/// A message about the device with this index, 0 for a new one: struct ifinfomsg, then attributes.
/// `flags` are set on the device.
#[must_use]
pub fn device(index: u32, flags: u32, attributes: &[Vec<u8>]) -> Vec<u8> {
    let family_and_type = 0;
    let header = [family_and_type, index, flags, flags];
    let mut message: Vec<u8> = header.iter().flat_map(|word| word.to_ne_bytes()).collect();
    message.extend(attributes.concat());
    message
}

/// The value of an attribute in an answer about a device.
#[must_use]
pub fn of_device(answer: &Answer, kind: u16) -> Option<&[u8]> {
    match answer {
        (libc::RTM_NEWLINK, body) => find(body.get(DEVICE..)?, kind),
        _ => None,
    }
}

/// Gives the device with this index an address in a network with a prefix of `prefix` bits.
///
/// # Errors
///
/// The kernel's error.
pub fn add_address(index: u32, address: IpAddr, prefix: u8, flags: u16) -> io::Result<()> {
    // struct ifaddrmsg: family, prefix, flags, scope, index.
    let mut message = vec![family(address), prefix, 0, 0];
    message.extend(index.to_ne_bytes());
    for kind in [libc::IFA_LOCAL, libc::IFA_ADDRESS] {
        message.extend(attribute(kind, &octets(address)));
    }
    request(RTM_NEWADDR, flags, &message)
}

/// The family of an address, AF_INET or AF_INET6.
#[must_use]
pub const fn family(address: IpAddr) -> c_uchar {
    match address {
        IpAddr::V4(_) => libc::AF_INET as c_uchar,
        IpAddr::V6(_) => libc::AF_INET6 as c_uchar,
    }
}

/// The bytes of an address.
#[must_use]
pub fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

//! A pair of devices between two namespaces (veth(4)): packets sent into one arrive from the other.

use std::os::fd::{AsFd, AsRawFd};

use libc::{
    IFLA_IFNAME, IFLA_INFO_DATA, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_MTU, IFLA_NET_NS_FD,
    RTM_NEWLINK,
};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};

use crate::error::{Result, Tried};
use crate::netlink::frame::{attribute, nested, text};
use crate::netlink::route::{device, request};

/// VETH_INFO_PEER of include/uapi/linux/veth.h.
const PEER: u16 = 1;

/// Creates a pair: the device `here` in the calling thread's namespace, the device `there` in
/// the namespace `other`, both for packets of up to `mtu` bytes. The pair is removed with either
/// namespace.
///
/// # Errors
///
/// Such a device exists already, or the process is not root of both networks.
pub fn make(here: &str, there: &str, other: &impl AsFd, mtu: u16) -> Result<()> {
    let named = |name: &str| {
        vec![
            text(IFLA_IFNAME, name),
            attribute(IFLA_MTU, &u32::from(mtu).to_ne_bytes()),
        ]
    };
    let mut peer = named(there);
    let namespace = other.as_fd().as_raw_fd();
    peer.push(attribute(IFLA_NET_NS_FD, &namespace.to_ne_bytes()));
    let peer = attribute(PEER, &device(0, 0, &peer));
    let mut message = named(here);
    message.push(nested(
        IFLA_LINKINFO,
        &[
            text(IFLA_INFO_KIND, "veth"),
            nested(IFLA_INFO_DATA, &[peer]),
        ],
    ));
    request(
        RTM_NEWLINK,
        NLM_F_CREATE | NLM_F_EXCL,
        &device(0, 0, &message),
    )
    .tried(|| format!("cannot make the pair of devices {here} and {there}"))
}

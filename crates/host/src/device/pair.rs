//! A pair of devices between two namespaces (veth(4)): packets sent into one arrive from the other.

use std::os::fd::{AsFd, AsRawFd};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkInfo, LinkMessage,
};

use crate::error::{Result, Tried};
use crate::netlink::route::request;

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
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::Mtu(mtu.into()),
        ]
    };
    let mut peer = LinkMessage::default();
    peer.attributes = named(there);
    peer.attributes
        .push(LinkAttribute::NetNsFd(other.as_fd().as_raw_fd()));
    let mut message = LinkMessage::default();
    message.attributes = named(here);
    message.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
    ]));
    request(
        &RouteNetlinkMessage::NewLink(message),
        NLM_F_CREATE | NLM_F_EXCL,
    )
    .tried(|| format!("cannot make the pair of devices {here} and {there}"))
}

//! Bridges and their ports.

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoPortKind, LinkAttribute, LinkInfo, LinkMessage};

use super::request::ask;
use super::{index, name_of};
use crate::error::{Result, Tried};

/// The bridge with `device` as a port in the calling thread's namespace, if any.
///
/// # Errors
///
/// There is no such device.
pub fn of_port(device: &str) -> Result<Option<String>> {
    let mut question = LinkMessage::default();
    question.header.index = index(device)?;
    let answer = ask(RouteNetlinkMessage::GetLink(question))
        .tried(|| format!("cannot ask for the bridge of {device}"))?;
    let RouteNetlinkMessage::NewLink(link) = answer else {
        return Ok(None);
    };
    let is_port = |attribute: &LinkAttribute| {
        let LinkAttribute::LinkInfo(infos) = attribute else {
            return false;
        };
        infos.contains(&LinkInfo::PortKind(InfoPortKind::Bridge))
    };
    let controller = link.attributes.iter().find_map(|attribute| {
        let LinkAttribute::Controller(index) = attribute else {
            return None;
        };
        Some(*index)
    });
    match controller {
        Some(controller) if link.attributes.iter().any(is_port) => name_of(controller).map(Some),
        _ => Ok(None),
    }
}

//! Bridges and their ports.

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoKind, InfoPortKind, LinkAttribute, LinkInfo, LinkMessage};

use crate::error::{Result, Tried};
use crate::interface::{index, name_of};
use crate::netlink::route::{ask, request};

/// Makes a bridge without ports in the calling thread's namespace.
///
/// # Errors
///
/// The kernel has no bridges (module `bridge`), or has a device of that name.
pub fn make(name: &str) -> Result<()> {
    let mut message = LinkMessage::default();
    message.attributes = vec![
        LinkAttribute::IfName(name.to_owned()),
        LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Bridge)]),
    ];
    let message = RouteNetlinkMessage::NewLink(message);
    request(&message, NLM_F_CREATE | NLM_F_EXCL).tried(|| format!("cannot make the bridge {name}"))
}

/// Adds a device of the calling thread's namespace to a bridge.
///
/// # Errors
///
/// There is no such bridge or device, or the device cannot be a port.
pub fn add_port(bridge: &str, device: &str) -> Result<()> {
    let mut message = LinkMessage::default();
    message.header.index = index(device)?;
    message.attributes = vec![LinkAttribute::Controller(index(bridge)?)];
    request(&RouteNetlinkMessage::SetLink(message), 0)
        .tried(|| format!("cannot make {device} a port of the bridge {bridge}"))
}

/// The bridge with `device` as a port in the calling thread's namespace, if any.
///
/// # Errors
///
/// There is no such device.
pub fn of_port(device: &str) -> Result<Option<String>> {
    let mut question = LinkMessage::default();
    question.header.index = index(device)?;
    let answer = ask(&RouteNetlinkMessage::GetLink(question))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::pair;
    use crate::interface;
    use crate::namespace::Namespace;

    /// A device knows its bridge, and no bridge after that one is removed.
    #[test]
    fn a_port_reports_its_bridge() {
        let Ok(namespace) = Namespace::new() else {
            airtcp_needs::skip("namespaces need root");
            return;
        };
        namespace
            .enter(|| {
                if let Err(error) = make("bridge0") {
                    airtcp_needs::skip(error);
                    return Ok(());
                }
                pair::make("here", "there", &Namespace::current()?, 1500)?;
                assert_eq!(of_port("here")?, None);
                add_port("bridge0", "here")?;
                assert_eq!(of_port("here")?.as_deref(), Some("bridge0"));
                assert!(make("bridge0").is_err() && add_port("bridge0", "absent").is_err());
                interface::remove("bridge0")?;
                assert_eq!(of_port("here")?, None);
                Ok(())
            })
            .unwrap();
    }
}

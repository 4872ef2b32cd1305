//! Bridges and their ports.

use libc::{
    IFLA_IFNAME, IFLA_INFO_KIND, IFLA_INFO_SLAVE_KIND, IFLA_LINKINFO, IFLA_MASTER, RTM_GETLINK,
    RTM_NEWLINK, RTM_SETLINK,
};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};

use crate::error::{Result, Tried};
use crate::interface::{index, name_of};
use crate::netlink::frame::{as_text, attribute, find, nested, text, word};
use crate::netlink::route::{ask, device, of_device, request};

/// The kind of a bridge's device, and of its ports'.
const KIND: &str = "bridge";

/// Makes a bridge without ports in the calling thread's namespace.
///
/// # Errors
///
/// The kernel has no bridges (module `bridge`), or has a device of that name.
pub fn make(name: &str) -> Result<()> {
    let kind = nested(IFLA_LINKINFO, &[text(IFLA_INFO_KIND, KIND)]);
    let message = device(0, 0, &[text(IFLA_IFNAME, name), kind]);
    request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &message)
        .tried(|| format!("cannot make the bridge {name}"))
}

/// Adds a device of the calling thread's namespace to a bridge.
///
/// # Errors
///
/// There is no such bridge or device, or the device cannot be a port.
pub fn add_port(bridge: &str, port: &str) -> Result<()> {
    let port_index = index(port)?;
    let controller = attribute(IFLA_MASTER, &index(bridge)?.to_ne_bytes());
    request(RTM_SETLINK, 0, &device(port_index, 0, &[controller]))
        .tried(|| format!("cannot make {port} a port of the bridge {bridge}"))
}

/// The bridge with the device `port` as a port in the calling thread's namespace, if any.
///
/// # Errors
///
/// There is no such device.
pub fn of_port(port: &str) -> Result<Option<String>> {
    let answer = ask(RTM_GETLINK, &device(index(port)?, 0, &[]))
        .tried(|| format!("cannot ask for the bridge of {port}"))?;
    let kind = of_device(&answer, IFLA_LINKINFO)
        .and_then(|information| find(information, IFLA_INFO_SLAVE_KIND))
        .map(as_text);
    let controller = of_device(&answer, IFLA_MASTER).and_then(|value| word(value, 0));
    match controller {
        Some(controller) if kind.as_deref() == Some(KIND) => name_of(controller).map(Some),
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

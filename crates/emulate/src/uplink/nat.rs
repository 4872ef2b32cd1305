//! Address translation by the machine itself, for root: a pair of devices between the far end and
//! the machine, and a rule that gives packets from there the machine's address.
//!
//! Devices vanish with the far end's namespace, and the rule with its socket: nothing remains, not
//! even after `kill -9`. Machine settings would remain, so they are not changed: the machine must
//! already forward. IPv4 only, since a machine that forwards IPv6 no longer accepts addresses from
//! its routers.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use airtcp_host::device;
use airtcp_host::device::pair;
use airtcp_host::error::{Error, Result};
use airtcp_host::interface::{self, Network};
use airtcp_host::masquerade::{Leaving, Masquerade, masquerade};
use airtcp_host::namespace::Namespace;

use super::DEVICE;

/// Files that name resolvers; the second is for a machine with systemd-resolved.
const RESOLVERS: [&str; 2] = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];

/// A translated uplink, for as long as this value lives.
#[derive(Debug)]
pub struct Nat {
    resolver: Option<IpAddr>,
    _rule: Masquerade,
}

impl Nat {
    /// Connects `server`'s namespace to that of the calling thread.
    ///
    /// # Errors
    ///
    /// The machine does not forward, or the process is not root of its network.
    pub fn start(server: &Arc<Namespace>, mtu: u16) -> Result<Self> {
        let forwards = fs::read_to_string("/proc/sys/net/ipv4/ip_forward");
        if forwards.map_or(true, |value| value.trim() != "1") {
            return Err(Error::new("this machine does not forward packets")
                .remedied_by("as root: sysctl -w net.ipv4.ip_forward=1"));
        }
        let name = format!("airtcp-{}", std::process::id());
        pair::make(&name, DEVICE, server, mtu)?;
        let [here, there] = line(interface::index(&name)?);
        interface::bring_up(&name)?;
        interface::add_address(&name, network(here))?;
        server.enter(|| {
            interface::bring_up(DEVICE)?;
            interface::add_address(DEVICE, network(there))?;
            device::make_default_route(DEVICE, IpAddr::V4(here))?;
            masquerade(&Leaving::by(DEVICE)?)
        })?;
        let table = format!("airtcp_{}", std::process::id());
        Ok(Self {
            resolver: resolver(),
            _rule: Masquerade::new(&table, &Leaving::From(there))?,
        })
    }

    /// The machine's resolver.
    pub const fn resolver(&self) -> Option<IpAddr> {
        self.resolver
    }
}

/// The addresses of the machine and of the far end: a separate line for each device by its index,
/// in a network that no emulated link uses (RFC 6598).
fn line(index: u32) -> [Ipv4Addr; 2] {
    let line = (index % (1 << 13)) * 4;
    let network = u32::from(Ipv4Addr::new(100, 127, 0, 0)) + line;
    [1, 2].map(|host| Ipv4Addr::from(network + host))
}

const fn network(host: Ipv4Addr) -> Network {
    Network {
        address: IpAddr::V4(host),
        prefix: 30,
    }
}

/// The first resolver that can be reached from another namespace.
fn resolver() -> Option<IpAddr> {
    let texts = RESOLVERS
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    texts.into_iter().find_map(|text| first_resolver(&text))
}

/// The first IPv4 resolver of a resolv.conf(5) that is not on the loopback device.
fn first_resolver(text: &str) -> Option<IpAddr> {
    text.lines()
        .filter_map(|line| {
            line.strip_prefix("nameserver")?
                .trim()
                .parse::<Ipv4Addr>()
                .ok()
        })
        .find(|address| !address.is_loopback())
        .map(IpAddr::V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_do_not_overlap_and_are_no_emulated_links() {
        let mut seen = std::collections::BTreeSet::new();
        for index in 1..=1 << 13 {
            for host in line(index) {
                assert!(seen.insert(host), "{index}");
                assert!(host.to_string().starts_with("100.127."));
            }
        }
    }

    #[test]
    fn a_resolver_on_the_loopback_device_is_no_use_to_another_namespace() {
        let text = "search example\nnameserver 127.0.0.53\nnameserver ::1\nnameserver 192.0.2.53\n";
        assert_eq!(first_resolver(text), Some("192.0.2.53".parse().unwrap()));
        assert_eq!(first_resolver("nameserver 127.0.0.1"), None);
    }
}

//! The treatment of a share of a cgroup's new connections.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::AsRawFd;
use std::path::Path;

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::object::{Unloaded, failed};
use super::{Group, Treatment};
use crate::error::{Error, Result, Tried};
use crate::namespace::cookie;

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/treat.bpf.o"));
/// The names of the pins in the directory.
const LINK: &str = "treat";
const GROUPS: &str = "groups";

/// Treats the new connections of a cgroup, in the calling thread's network namespace, until the
/// pins in `directory`, on a BPF file system, are removed.
///
/// # Errors
///
/// No privilege, no cgroup v2, or a missing kernel feature.
pub fn treat(treatment: &Treatment, cgroup: &Path, directory: &Path) -> Result<()> {
    let mut unloaded = Unloaded::read("treat", PROGRAM)?;
    unloaded.set("namespace_cookie", cookie()?)?;
    unloaded.set("until_ns", treatment.until_ns.unwrap_or(0))?;
    unloaded.set("share", treatment.share)?;
    unloaded.set("salt", treatment.salt)?;
    if let Some((address, prefix)) = treatment.peers {
        let (network, mask) = in_network_order(address, prefix);
        unloaded.set_bytes("network", &network)?;
        unloaded.set_bytes("mask", &mask)?;
    }
    if let Some(control) = &treatment.control {
        unloaded.set_bytes("control", control.as_bytes())?;
    }
    unloaded.set("initial_window", treatment.initial_window.unwrap_or(0))?;
    unloaded.set("least_timeout_us", treatment.least_timeout_us.unwrap_or(0))?;
    unloaded.set("pacing_rate", treatment.pacing_rate.unwrap_or(0))?;
    let mut object = unloaded.load()?;
    let opened = File::open(cgroup).tried(|| format!("cannot open {}", cgroup.display()))?;
    let mut groups = object
        .maps_mut()
        .find(|map| map.name() == GROUPS)
        .ok_or_else(|| Error::new("treat: no groups in it"))?;
    groups
        .pin(directory.join(GROUPS))
        .map_err(|cause| failed("cannot keep the groups", &cause))?;
    let program = object
        .progs_mut()
        .next()
        .ok_or_else(|| Error::new("treat: no program in it"))?;
    let mut link = program.attach_cgroup(opened.as_raw_fd()).map_err(|cause| {
        failed(&format!("cannot attach to {}", cgroup.display()), &cause)
            .remedied_by("it has to be a cgroup of version 2 (mount -t cgroup2 names where)")
    })?;
    link.pin(directory.join(LINK))
        .map_err(|cause| failed("cannot keep the treatment", &cause))
}

/// Returns the groups of the connections that a treatment has seen, by socket cookie.
///
/// # Errors
///
/// That directory holds no treatment.
pub fn groups(directory: &Path) -> Result<BTreeMap<u64, Group>> {
    let map = MapHandle::from_pinned_path(directory.join(GROUPS)).map_err(|cause| {
        failed(
            &format!("cannot read the groups in {}", directory.display()),
            &cause,
        )
    })?;
    let mut groups = BTreeMap::new();
    for key in map.keys() {
        let Some(value) = map
            .lookup(&key, MapFlags::ANY)
            .map_err(|cause| failed("cannot read a group", &cause))?
        else {
            continue;
        };
        let (Ok(cookie), Some((treated, refused))) =
            (<[u8; 8]>::try_from(key.as_slice()), split(&value))
        else {
            continue;
        };
        groups.insert(
            u64::from_ne_bytes(cookie),
            Group {
                treated: u32::from_ne_bytes(treated) != 0,
                refused: -i32::from_ne_bytes(refused),
            },
        );
    }
    Ok(groups)
}

fn split(value: &[u8]) -> Option<([u8; 4], [u8; 4])> {
    let (treated, rest) = value.split_first_chunk()?;
    let (refused, _) = rest.split_first_chunk()?;
    Some((*treated, *refused))
}

/// An address and the mask of its prefix in network order, IPv4 as ::ffff:a.b.c.d.
fn in_network_order(address: IpAddr, prefix: u8) -> ([u8; 16], [u8; 16]) {
    let (address, bits) = match address {
        IpAddr::V4(address) => (address.to_ipv6_mapped(), u32::from(prefix) + 96),
        IpAddr::V6(address) => (address, u32::from(prefix)),
    };
    let mask = u128::MAX.checked_shl(128 - bits.min(128)).unwrap_or(0);
    let network = Ipv6Addr::from(u128::from(address) & mask);
    (network.octets(), mask.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_mask_in_network_order() {
        let (network, mask) = in_network_order("10.1.2.3".parse().unwrap(), 8);
        assert_eq!(network[10..], [0xff, 0xff, 10, 0, 0, 0]);
        assert_eq!(mask[12..], [255, 0, 0, 0]);
        assert!(mask[..12].iter().all(|byte| *byte == 255));
        let (network, mask) = in_network_order("2001:db8::1".parse().unwrap(), 32);
        assert_eq!(network[..6], [0x20, 1, 0x0d, 0xb8, 0, 0]);
        assert_eq!(mask[..5], [255, 255, 255, 255, 0]);
        assert_eq!(in_network_order("::".parse().unwrap(), 0).1, [0; 16]);
    }
}

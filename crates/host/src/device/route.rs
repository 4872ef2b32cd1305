//! Routes, and the attributes that TCP reads from them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use libc::{
    RT_SCOPE_LINK, RT_SCOPE_UNIVERSE, RT_TABLE_MAIN, RTA_DST, RTA_GATEWAY, RTA_METRICS, RTA_OIF,
    RTM_GETROUTE, RTM_NEWROUTE, RTN_LOCAL, RTN_UNICAST, RTPROT_STATIC,
};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use serde::Serialize;

use crate::error::{Error, Result, Tried};
use crate::netlink::frame::{attribute, nested};
use crate::netlink::route::{ask, family, octets, request};

/// Where struct rtmsg has a route's type.
const TYPE_AT: usize = 7;

/// A route attribute for TCP, as named by ip-route(8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// `advmss`: the announced MSS, in bytes.
    AnnouncedMss(u32),
    /// `initcwnd`: the initial congestion window, in segments.
    InitialWindow(u32),
    /// `rto_min lock`: the floor of the retransmission timer, in milliseconds.
    LeastTimeout(u32),
    /// `quickack`: every segment is acknowledged at once.
    QuickAcks(u32),
    /// `reordering`: the initial duplicate-acknowledgment threshold.
    Reordering(u32),
    /// Largest window that is offered, in bytes.
    Window(u32),
}

impl Metric {
    /// Parses an attribute's name and value in the syntax of ip-route(8).
    ///
    /// # Errors
    ///
    /// An unknown name, or a value that is not a number.
    pub fn parse(name: &str, value: &str) -> Result<Self> {
        let number: u32 = value
            .trim_end_matches("ms")
            .parse()
            .map_err(|_| Error::new(format!("route attribute {name}: {value:?} is no number")))?;
        match name {
            "advmss" => Ok(Self::AnnouncedMss(number)),
            "initcwnd" => Ok(Self::InitialWindow(number)),
            "rto_min" => Ok(Self::LeastTimeout(number)),
            "quickack" => Ok(Self::QuickAcks(number)),
            "reordering" => Ok(Self::Reordering(number)),
            "window" => Ok(Self::Window(number)),
            _ => Err(Error::new(format!("no route attribute {name:?} is known"))),
        }
    }

    /// All of them in netlink's form, with a mask of attributes locked against the kernel's
    /// updates.
    fn in_netlink(all: &[Self]) -> Vec<u8> {
        // RTAX_LOCK and RTAX_RTO_MIN of include/uapi/linux/rtnetlink.h.
        const LOCK: u16 = 1;
        const RTO_MIN: u16 = 13;
        let of = |kind, value: u32| attribute(kind, &value.to_ne_bytes());
        let mut lock = 0;
        let mut metrics: Vec<_> = all
            .iter()
            .map(|metric| {
                let (kind, value) = metric.numbered();
                if kind == RTO_MIN {
                    lock |= 1 << RTO_MIN;
                }
                of(kind, value)
            })
            .collect();
        if lock != 0 {
            metrics.push(of(LOCK, lock));
        }
        nested(RTA_METRICS, &metrics)
    }

    /// Its number RTAX_… of include/uapi/linux/rtnetlink.h, and its value.
    const fn numbered(self) -> (u16, u32) {
        match self {
            Self::Window(bytes) => (3, bytes),
            Self::AnnouncedMss(bytes) => (8, bytes),
            Self::Reordering(segments) => (9, segments),
            Self::InitialWindow(segments) => (11, segments),
            Self::LeastTimeout(ms) => (13, ms),
            Self::QuickAcks(on) => (15, on),
        }
    }
}

/// Adds a default route through this device of the calling thread's namespace, by way of a gateway.
///
/// # Errors
///
/// There is no such device, or the kernel refuses the route.
pub fn make_default_route(device: &str, gateway: IpAddr) -> Result<()> {
    let all = match gateway {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    add(device, all, 0, Some(gateway), &[])
}

/// Routes `destination`, a network with a prefix of `prefix` bits, into this device of the calling
/// thread's namespace, with these TCP attributes.
///
/// # Errors
///
/// There is no such device, or the kernel refuses the route or an attribute.
pub fn add(
    device: &str,
    destination: IpAddr,
    prefix: u8,
    gateway: Option<IpAddr>,
    metrics: &[Metric],
) -> Result<()> {
    let index = crate::interface::index(device)?;
    send(destination, prefix, gateway, index, metrics)
        .tried(|| format!("cannot route {destination}/{prefix} through {device}"))
}

fn send(
    destination: IpAddr,
    prefix: u8,
    gateway: Option<IpAddr>,
    index: u32,
    metrics: &[Metric],
) -> io::Result<()> {
    let scope = match gateway {
        Some(_) => RT_SCOPE_UNIVERSE,
        None => RT_SCOPE_LINK,
    };
    let mut message = header(destination, prefix);
    message[4..=TYPE_AT].copy_from_slice(&[RT_TABLE_MAIN, RTPROT_STATIC, scope, RTN_UNICAST]);
    message.extend(attribute(RTA_OIF, &index.to_ne_bytes()));
    if prefix > 0 {
        message.extend(attribute(RTA_DST, &octets(destination)));
    }
    if let Some(gateway) = gateway {
        message.extend(attribute(RTA_GATEWAY, &octets(gateway)));
    }
    if !metrics.is_empty() {
        message.extend(Metric::in_netlink(metrics));
    }
    request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &message)
}

/// struct rtmsg: family, prefixes of destination and source, type of service; table, protocol,
/// scope and type, all zero; flags.
fn header(destination: IpAddr, prefix: u8) -> Vec<u8> {
    let mut message = vec![family(destination), prefix];
    message.resize(12, 0);
    message
}

/// Waits until packets to this address stay in the calling thread's namespace. The kernel adds an
/// IPv6 address at once, but its route later (`addrconf_dad_work`), even without duplicate address
/// detection; in between, a router sends such packets back into the device.
///
/// # Errors
///
/// The kernel refuses to look, or takes longer than any machine under load.
pub fn await_local(address: IpAddr) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(10);
    const BETWEEN: Duration = Duration::from_millis(1);
    let start = Instant::now();
    while !is_local(address)? {
        if start.elapsed() > PATIENCE {
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(BETWEEN);
    }
    Ok(())
}

/// Whether packets to this address stay in the calling thread's namespace.
fn is_local(address: IpAddr) -> io::Result<bool> {
    let mut message = header(address, if address.is_ipv4() { 32 } else { 128 });
    message.extend(attribute(RTA_DST, &octets(address)));
    match ask(RTM_GETROUTE, &message) {
        Ok((RTM_NEWROUTE, found)) => Ok(found.get(TYPE_AT) == Some(&RTN_LOCAL)),
        Ok(_) => Ok(false),
        // No route at all yet.
        Err(error) if error.kind() == io::ErrorKind::NetworkUnreachable => Ok(false),
        Err(error) => Err(error),
    }
}

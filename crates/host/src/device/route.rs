//! Routes, and the attributes that TCP reads from them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_REPLACE};
use netlink_packet_route::AddressFamily;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use serde::Serialize;

use crate::error::{Error, Result, Tried};
use crate::netlink::route::{ask, request};

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
    fn in_netlink(all: &[Self]) -> Vec<RouteMetric> {
        /// RTAX_RTO_MIN of include/uapi/linux/rtnetlink.h as a bit.
        const RTO_MIN: u32 = 1 << 13;
        let mut lock = 0;
        let mut metrics: Vec<_> = all
            .iter()
            .map(|metric| match *metric {
                Self::AnnouncedMss(bytes) => RouteMetric::Advmss(bytes),
                Self::InitialWindow(segments) => RouteMetric::InitCwnd(segments),
                Self::LeastTimeout(ms) => {
                    lock |= RTO_MIN;
                    RouteMetric::RtoMin(ms)
                }
                Self::QuickAcks(on) => RouteMetric::QuickAck(on),
                Self::Reordering(segments) => RouteMetric::Reordering(segments),
                Self::Window(bytes) => RouteMetric::Window(bytes),
            })
            .collect();
        if lock != 0 {
            metrics.push(RouteMetric::Lock(lock));
        }
        metrics
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
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: family(destination),
        destination_prefix_length: prefix,
        table: RouteHeader::RT_TABLE_MAIN,
        protocol: RouteProtocol::Static,
        scope: match gateway {
            Some(_) => RouteScope::Universe,
            None => RouteScope::Link,
        },
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    message.attributes.push(RouteAttribute::Oif(index));
    if prefix > 0 {
        let destination = in_netlink(destination);
        message
            .attributes
            .push(RouteAttribute::Destination(destination));
    }
    if let Some(gateway) = gateway {
        let gateway = in_netlink(gateway);
        message.attributes.push(RouteAttribute::Gateway(gateway));
    }
    if !metrics.is_empty() {
        message
            .attributes
            .push(RouteAttribute::Metrics(Metric::in_netlink(metrics)));
    }
    request(
        &RouteNetlinkMessage::NewRoute(message),
        NLM_F_CREATE | NLM_F_REPLACE,
    )
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
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: family(address),
        destination_prefix_length: if address.is_ipv4() { 32 } else { 128 },
        ..RouteHeader::default()
    };
    let destination = RouteAttribute::Destination(in_netlink(address));
    message.attributes.push(destination);
    match ask(&RouteNetlinkMessage::GetRoute(message)) {
        Ok(RouteNetlinkMessage::NewRoute(found)) => Ok(found.header.kind == RouteType::Local),
        Ok(_) => Ok(false),
        // No route at all yet.
        Err(error) if error.kind() == io::ErrorKind::NetworkUnreachable => Ok(false),
        Err(error) => Err(error),
    }
}

const fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

const fn in_netlink(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

//! Network devices: the TUN devices that carry real packets into a link, their addresses and
//! routes.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd};

use netconfig_rs::Interface;
use netconfig_rs::sys::InterfaceExt;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::AddressFamily;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use serde::Serialize;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::error::{Error, Result, Tried};

/// An address with the length of its network's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The host's own address.
    pub address: IpAddr,
    /// Bits of the prefix.
    pub prefix: u8,
}

/// An attribute of a route that TCP reads, as ip-route(8) names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// `initcwnd`: the congestion window at the start, in segments.
    InitialWindow(u32),
    /// `rto_min lock`: the floor of the retransmission timer, in milliseconds.
    LeastTimeout(u32),
    /// `quickack`: every segment is acknowledged at once.
    QuickAcks(u32),
    /// `reordering`: the duplicate-acknowledgment threshold at the start.
    Reordering(u32),
}

impl Metric {
    /// The attribute of that name with a value as ip-route(8) takes it.
    ///
    /// # Errors
    ///
    /// Another name, or no number.
    pub fn parse(name: &str, value: &str) -> Result<Self> {
        let number: u32 = value
            .trim_end_matches("ms")
            .parse()
            .map_err(|_| Error::new(format!("route attribute {name}: {value:?} is no number")))?;
        match name {
            "initcwnd" => Ok(Self::InitialWindow(number)),
            "rto_min" => Ok(Self::LeastTimeout(number)),
            "quickack" => Ok(Self::QuickAcks(number)),
            "reordering" => Ok(Self::Reordering(number)),
            _ => Err(Error::new(format!("no route attribute {name:?} is known"))),
        }
    }

    /// All of them as the kernel takes them: with a mask of those that it is not to learn.
    fn in_netlink(all: &[Self]) -> Vec<RouteMetric> {
        /// RTAX_RTO_MIN of include/uapi/linux/rtnetlink.h as a bit.
        const RTO_MIN: u32 = 1 << 13;
        let mut lock = 0;
        let mut metrics: Vec<_> = all
            .iter()
            .map(|metric| match *metric {
                Self::InitialWindow(segments) => RouteMetric::InitCwnd(segments),
                Self::LeastTimeout(ms) => {
                    lock |= RTO_MIN;
                    RouteMetric::RtoMin(ms)
                }
                Self::QuickAcks(on) => RouteMetric::QuickAck(on),
                Self::Reordering(segments) => RouteMetric::Reordering(segments),
            })
            .collect();
        if lock != 0 {
            metrics.push(RouteMetric::Lock(lock));
        }
        metrics
    }
}

/// A TUN device: IP packets that the kernel sends into it are read, what is written into it the
/// kernel receives. It goes away with this value.
pub struct Tun {
    device: SyncDevice,
    name: String,
}

impl fmt::Debug for Tun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tun").field(&self.name).finish()
    }
}

impl Tun {
    /// Makes a device in the namespace of the calling thread, up, with these addresses and without
    /// waiting: reads and writes say `WouldBlock` instead.
    ///
    /// # Errors
    ///
    /// `/dev/net/tun` is missing or forbidden, or the name or an address is refused.
    pub fn new(name: &str, mtu: u16, networks: &[Network]) -> Result<Self> {
        let mut builder = DeviceBuilder::new()
            .name(name)
            .layer(Layer::L3)
            .mtu(mtu)
            .packet_information(false);
        for network in networks {
            builder = match network.address {
                IpAddr::V4(address) => builder.ipv4(address, network.prefix, None),
                IpAddr::V6(address) => builder.ipv6(address, network.prefix),
            };
        }
        let device = builder.build_sync().map_err(|cause| {
            let missing = cause.kind() == io::ErrorKind::NotFound;
            let error = Error::system(format!("cannot make the TUN device {name}"), cause);
            if missing {
                error.remedied_by(
                    "/dev/net/tun is not there: as root, modprobe tun, or give the container the \
                     device",
                )
            } else {
                error
            }
        })?;
        device
            .set_nonblocking(true)
            .tried(|| format!("cannot set {name} not to wait"))?;
        Ok(Self {
            device,
            name: name.to_owned(),
        })
    }

    /// Sends everything that no other route takes into this device, by way of these hosts. The
    /// device has no use for them, but programs look for the gateways of a default route. In the
    /// device's namespace.
    ///
    /// # Errors
    ///
    /// The kernel refuses the route.
    pub fn make_default_route(&self, gateways: [IpAddr; 2]) -> Result<()> {
        for gateway in gateways {
            let all = match gateway {
                IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            };
            self.add_route(all, 0, Some(gateway), &[])?;
        }
        Ok(())
    }

    /// Sends what goes to `destination`, a network with a prefix of `prefix` bits, into this
    /// device, with these attributes of TCP's. In the device's namespace.
    ///
    /// # Errors
    ///
    /// The kernel refuses the route or an attribute.
    pub fn route(&self, destination: IpAddr, prefix: u8, metrics: &[Metric]) -> Result<()> {
        self.add_route(destination, prefix, None, metrics)
    }

    fn add_route(
        &self,
        destination: IpAddr,
        prefix: u8,
        gateway: Option<IpAddr>,
        metrics: &[Metric],
    ) -> Result<()> {
        let index = Interface::try_from_name(&self.name)
            .and_then(|device| device.index())
            .map_err(|error| Error::new(format!("cannot find {}: {error}", self.name)))?;
        add_route(destination, prefix, gateway, index, metrics)
            .tried(|| format!("cannot route {destination}/{prefix} through {}", self.name))
    }

    /// Reads a packet. `None` where none is waiting.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>> {
        match self.device.recv(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(Error::system(
                format!("cannot read from {}", self.name),
                error,
            )),
        }
    }

    /// Writes a packet. Returns whether the kernel took it: a queue of its own may be full.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn write(&self, packet: &[u8]) -> Result<bool> {
        match self.device.send(packet) {
            Ok(_) => Ok(true),
            // A packet that the kernel does not understand is lost, as on any wire.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::InvalidInput
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(Error::system(
                format!("cannot write to {}", self.name),
                error,
            )),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// Brings a device up in the namespace of the calling thread.
///
/// # Errors
///
/// There is no such device.
pub fn bring_up(name: &str) -> Result<()> {
    Interface::try_from_name(name)
        .and_then(|device| device.set_up(true))
        .map_err(|error| Error::new(format!("cannot bring {name} up: {error}")))
}

fn add_route(
    destination: IpAddr,
    prefix: u8,
    gateway: Option<IpAddr>,
    index: u32,
    metrics: &[Metric],
) -> io::Result<()> {
    let in_netlink = |address| match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    };
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: match destination {
            IpAddr::V4(_) => AddressFamily::Inet,
            IpAddr::V6(_) => AddressFamily::Inet6,
        },
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
    let mut request = NetlinkMessage::from(RouteNetlinkMessage::NewRoute(message));
    request.header.flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);

    let socket = Socket::new(NETLINK_ROUTE)?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&bytes, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
        .map_err(|error| io::Error::other(error.to_string()))?;
    match answer.payload {
        NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
        _ => Ok(()),
    }
}

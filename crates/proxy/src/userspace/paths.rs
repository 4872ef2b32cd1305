//! The path of packets to airtcp's endpoint: its device, its address, and the route to it.
//!
//! ```text
//!   --transparent:      client ── this machine, which diverts either side ── server
//!                                  └─ tun ─▶ endpoint ── raw sockets ─▶
//!   --mobile servers:  endpoint 192.0.0.2 ── tun ── this machine, which translates ──▶ server
//!   --mobile clients:  client ──▶ this machine ── tun ── endpoint, at the address of --listen
//! ```
//!
//! All of it disappears with the device and the sockets that created it: nothing outlives the
//! proxy. [`Diversion`](crate::divert::Diversion) diverts packets for `--transparent`.

use std::fs::{self, File};
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use airtcp_endpoint::{Endpoint, Settings};
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::interface::{self, Network};
use airtcp_host::iproute::ip;
use airtcp_host::masquerade::{Leaving, Masquerade};

use crate::stack::driver::{Device, Driver};

/// The machine's end of the device and the endpoint's: addresses valid only within a machine (RFC
/// 7335, the network for CLAT and B4).
const HERE: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 1);
const ENDPOINT: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 2);
const PREFIX: u8 = 29;
/// Maximum packet size: that of nearly every path.
const MTU: u16 = 1500;

/// Routes packets to the endpoint while this value and its device live.
#[derive(Debug)]
pub struct Path {
    /// The endpoint's address; unspecified if it has no address.
    pub address: SocketAddr,
    /// The endpoint's device.
    pub device: String,
    _translation: Option<Masquerade>,
}

impl Path {
    /// Creates a path from the endpoint to servers, under the machine's address.
    ///
    /// # Errors
    ///
    /// The machine does not forward, or the system refuses the device or the translation.
    pub fn to_servers(memory: usize) -> Result<(Driver, Self)> {
        forwards(IpAddr::V4(ENDPOINT))?;
        let driver = Driver::with_endpoint(&own_device(), endpoint(memory, MTU, true)?)?;
        let table = format!("airtcp_proxy_{}", std::process::id());
        let translation = Masquerade::new(&table, &Leaving::From(ENDPOINT))?;
        let line = Self {
            address: SocketAddr::from((ENDPOINT, 0)),
            device: name(),
            _translation: Some(translation),
        };
        Ok((driver, line))
    }

    /// Creates a path between clients on the device `clients` and servers, for packets diverted to
    /// the endpoint's device.
    ///
    /// # Errors
    ///
    /// The machine does not forward, `clients` is not one of its devices, or the system refuses the
    /// device or raw sockets.
    pub fn between(clients: &str, memory: usize) -> Result<(Driver, Self)> {
        forwards(IpAddr::V4(HERE))?;
        let clients_mtu = u16::try_from(interface::mtu(clients)?).unwrap_or(u16::MAX);
        let most = clients_mtu.min(MTU);
        let diverted = Device {
            name: name(),
            // Packets too long for the clients are refused here as they would be there, where a raw
            // socket could not report it (RFC 1191).
            mtu: clients_mtu,
            networks: Vec::new(),
            offload: false,
        };
        let driver = Driver::amid_others(&diverted, endpoint(memory, most, false)?)?;
        let line = Self {
            address: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            device: name(),
            _translation: None,
        };
        Ok((driver, line))
    }

    /// Creates a path from clients to the endpoint at `listen`.
    ///
    /// # Errors
    ///
    /// The address belongs to the machine, the machine does not forward, or the system refuses the
    /// device or the route.
    pub fn to_clients(listen: SocketAddr, memory: usize) -> Result<(Driver, Self)> {
        let address = listen.ip();
        let expected = || {
            Error::new(format!(
                "--listen {listen}: with a stack of our own expected an address that no machine \
                 has, and that clients reach by way of this one"
            ))
        };
        if address.is_unspecified() || address.is_loopback() || address.is_multicast() {
            return Err(expected());
        }
        let host = address.to_string();
        let way = ip(address.is_ipv6(), &["route", "get", &host]);
        if way.is_ok_and(|way| way.starts_with("local")) {
            return Err(expected());
        }
        forwards(address)?;
        let driver = Driver::with_endpoint(&own_device(), endpoint(memory, MTU, true)?)?;
        // It is removed with the device.
        ip(address.is_ipv6(), &["route", "add", &host, "dev", &name()])?;
        let line = Self {
            address: listen,
            device: name(),
            _translation: None,
        };
        Ok((driver, line))
    }
}

/// The device's name, unique per proxy.
fn name() -> String {
    format!("airtcp{}", std::process::id())
}

fn own_device() -> Device {
    let own = Network {
        address: IpAddr::V4(HERE),
        prefix: PREFIX,
    };
    Device {
        name: name(),
        mtu: MTU,
        networks: vec![own],
        offload: false,
    }
}

/// An endpoint with a bound on its buffered bytes, and on its packets.
fn endpoint(memory: usize, mtu: u16, answers_strays: bool) -> Result<Endpoint> {
    let mut secret = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut secret))
        .tried(|| "cannot read /dev/urandom".to_owned())?;
    Ok(Endpoint::new(Settings {
        mtu,
        most_buffered: memory as u64,
        answers_strays,
        ..Settings::new(secret)
    }))
}

/// Checks that packets are forwarded between the machine's devices.
fn forwards(address: IpAddr) -> Result<()> {
    let (file, key) = match address {
        IpAddr::V4(_) => ("/proc/sys/net/ipv4/ip_forward", "net.ipv4.ip_forward"),
        IpAddr::V6(_) => (
            "/proc/sys/net/ipv6/conf/all/forwarding",
            "net.ipv6.conf.all.forwarding",
        ),
    };
    if fs::read_to_string(file).is_ok_and(|value| value.trim() == "1") {
        return Ok(());
    }
    Err(Error::new(
        "a stack of our own is on a device of its own, and this machine does not \
                    forward packets",
    )
    .remedied_by(format!("as root: sysctl -w {key}=1")))
}

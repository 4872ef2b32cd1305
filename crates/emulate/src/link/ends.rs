//! The two ends of an emulated link: a namespace for each station, one for the server, and a pair
//! of devices between them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use airtcp_host::device::Tun;
use airtcp_host::error::{Error, Result};
use airtcp_host::interface::Network;
use airtcp_host::namespace::Namespace;

/// Maximum number of stations: their devices and processes are real.
pub const MAX_STATIONS: usize = 64;

/// Namespaces and devices of a link.
#[derive(Debug)]
pub struct Ends {
    /// The namespaces of the stations' programs.
    pub stations: Vec<Arc<Namespace>>,
    /// The namespace of the server's program.
    pub server: Arc<Namespace>,
    /// The stations' devices.
    pub station_devices: Vec<Tun>,
    /// The server's devices, one for each station.
    pub server_devices: Vec<Tun>,
}

impl Ends {
    /// Creates the ends for that many stations, with packets of up to `mtu` bytes.
    ///
    /// # Errors
    ///
    /// Too many stations, or the system does not allow namespaces or devices.
    pub fn new(stations: usize, mtu: u16) -> Result<Self> {
        if stations > MAX_STATIONS {
            return Err(Error::new(format!(
                "flows.count = {stations}: an emulated link has at most {MAX_STATIONS} stations, \
                 each with a namespace of its own; set flows.count lower"
            )));
        }
        let server = Arc::new(Namespace::new()?);
        let mut ends = Self {
            stations: Vec::new(),
            server,
            station_devices: Vec::new(),
            server_devices: Vec::new(),
        };
        for station in 0..stations {
            let namespace = Arc::new(Namespace::new()?);
            let device = namespace.enter(|| {
                let device = Tun::new("link0", mtu, &networks(station, Side::Station))?;
                device.make_default_route(server_addresses(station))?;
                Ok(device)
            })?;
            ends.station_devices.push(device);
            ends.server_devices.push(ends.server.enter(|| {
                Tun::new(
                    &format!("link{station}"),
                    mtu,
                    &networks(station, Side::Server),
                )
            })?);
            ends.stations.push(namespace);
        }
        Ok(ends)
    }
}

/// The IPv4 addresses of a station's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The station's address.
    pub station: Ipv4Addr,
    /// The server's address.
    pub server: Ipv4Addr,
}

impl Line {
    /// The line of station number `station`.
    pub fn of(station: usize) -> Self {
        let depth = depth();
        Self {
            station: Ipv4Addr::new(100, 64 + depth, station as u8, Side::Station as u8),
            server: Ipv4Addr::new(100, 64 + depth, station as u8, Side::Server as u8),
        }
    }
}

/// Number of emulated links that already contain this process: each has distinct addresses, so that
/// an inner link does not overlap the path out of it. The outer one is recognised by its
/// environment variables.
fn depth() -> u8 {
    /// The last network of RFC 6598 is used for resolvers.
    const DEEPEST: u8 = 62;
    let outer = std::env::var(SERVER_VARIABLE).ok();
    let outer = outer.and_then(|text| text.parse::<Ipv4Addr>().ok());
    match outer.map(|address| address.octets()) {
        Some([100, second @ 64..127, ..]) => (second - 64 + 1).min(DEEPEST),
        _ => 0,
    }
}

/// The environment variable with the server's IPv4 address.
pub const SERVER_VARIABLE: &str = "AIRTCP_SERVER";

/// The server's addresses from a station's view: IPv4, then IPv6.
pub fn server_addresses(station: usize) -> [IpAddr; 2] {
    networks(station, Side::Server).map(|network| network.address)
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Server = 1,
    Station = 2,
}

/// Addresses of each station's line: from those for carriers' networks (RFC 6598) and the unique
/// local ones (RFC 4193).
fn networks(station: usize, side: Side) -> [Network; 2] {
    let line = u16::from(depth()) << 8 | station as u16;
    [
        Network {
            address: IpAddr::V4(match side {
                Side::Station => Line::of(station).station,
                Side::Server => Line::of(station).server,
            }),
            prefix: 30,
        },
        Network {
            address: IpAddr::V6(Ipv6Addr::new(
                0xfd00,
                0xa1,
                0x7c9,
                line,
                0,
                0,
                0,
                side as u16,
            )),
            prefix: 64,
        },
    ]
}

//! Options common to `airtcp serve` and `airtcp send`: the device and the stack.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use airtcp_host::error::{Error, Result};
use airtcp_host::interface::Network;
use airtcp_remedies::Selection;
use airtcp_tcp::Profile;
use airtcp_tcp::config::ReceiveWindow;
use clap::Args;

use super::driver::{Device, Driver};

/// Size of the send buffer, and the free space at which more is written: few large pieces instead
/// of one for each acknowledgment. Unsent bytes are limited to fit in a processor's cache.
const SEND_BUFFER: usize = 16 << 20;
const ROOM: usize = 1 << 18;
const UNSENT: usize = 1 << 17;

/// The first host number in the network is the kernel's on the device, the second the endpoint's.
const FIRST: [u16; 2] = [1, 2];
/// The IPv6 network: one for private use (RFC 4193).
const IPV6: [u16; 7] = [0xfd61, 0x6972, 0x7463, 0x70, 0, 0, 0];

/// The TUN device, and the stack behind it.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct StackOptions {
    /// The TUN device's name
    #[arg(long, default_value = "airtcp0", value_name = "NAME")]
    pub device: String,
    /// The first three numbers of the IPv4 network between kernel and endpoint: the kernel is .1,
    /// the endpoint .2 (and ::1 and ::2 of fd61:6972:7463:70::/112)
    #[arg(long, default_value = "10.112.7", value_name = "A.B.C", value_parser = network)]
    pub network: Ipv4Addr,
    /// The longest IP packet on the device, in bytes
    #[arg(
        long,
        default_value_t = 1500,
        value_parser = clap::value_parser!(u16).range(1280..=65_535)
    )]
    pub mtu: u16,
    /// Let the kernel cut segments and add checksums: packets of up to 64 KiB pass the device
    #[arg(long)]
    pub offload: bool,
    /// The stack
    #[arg(long, default_value = "linux", value_name = "PROFILE", value_parser = profile)]
    pub profile: Profile,
    /// Remedies of the sender and the receiver, as in `airtcp compare`; may be given again
    #[arg(long, value_name = "REMEDY")]
    pub remedy: Vec<String>,
    /// Look for the path's MTU by probes, from segments of BYTES on (RFC 4821)
    #[arg(long, value_name = "BYTES")]
    pub probe_mtu: Option<u32>,
    /// A line a second for each connection, in the words of `ss -ti`
    #[arg(long)]
    pub stats: bool,
    /// Write every packet into FILE, as pcapng
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
}

fn network(text: &str) -> std::result::Result<Ipv4Addr, String> {
    format!("{text}.0").parse().map_err(|_| {
        format!("{text:?}: expected the first three numbers of an IPv4 network, such as 10.112.7")
    })
}

fn profile(text: &str) -> std::result::Result<Profile, String> {
    let names: Vec<_> = Profile::ALL.iter().map(|profile| profile.name()).collect();
    let found = Profile::ALL
        .into_iter()
        .find(|profile| profile.name() == text);
    found.ok_or_else(|| format!("{text:?}: expected one of {}", names.join(", ")))
}

impl StackOptions {
    /// The endpoint's address, of the family of `peer`.
    pub fn address(&self, peer: IpAddr) -> IpAddr {
        self.both(peer.is_ipv6())[1]
    }

    fn both(&self, is_ipv6: bool) -> [IpAddr; 2] {
        let [a, b, c, _] = self.network.octets();
        FIRST.map(|last| {
            if is_ipv6 {
                let [p, q, r, s, t, u, v] = IPV6;
                IpAddr::V6(Ipv6Addr::new(p, q, r, s, t, u, v, last))
            } else {
                IpAddr::V4(Ipv4Addr::new(a, b, c, last as u8))
            }
        })
    }

    /// The options of a connection.
    ///
    /// # Errors
    ///
    /// A remedy is refused, or does not apply to an endpoint.
    pub fn connection(&self) -> Result<airtcp_endpoint::Options> {
        let mut config = self.profile.config();
        config.receive_window = ReceiveWindow::Autotuned;
        // Suitable for a device between two programs on one machine as well as for long paths.
        config.receive_buffer = config.receive_buffer.max(16 << 20);
        let chosen: Selection = self
            .remedy
            .join("+")
            .parse()
            .map_err(|error| Error::new(format!("--remedy: {error}")))?;
        if !chosen.apply(&mut config).is_empty() {
            return Err(Error::new(format!(
                "--remedy {}: expected remedies of the sender or the receiver; those of the link \
                 and the access point need `airtcp emulate`",
                self.remedy.join(" ")
            )));
        }
        let mut options = airtcp_endpoint::Options::new(config);
        options.send_buffer = SEND_BUFFER;
        options.writable_from = ROOM;
        options.unsent_below = UNSENT;
        options.path_probe = self.probe_mtu;
        options.no_delay = true;
        Ok(options)
    }

    /// The device with its endpoint.
    ///
    /// # Errors
    ///
    /// It cannot be created, or the capture cannot.
    pub fn driver(&self) -> Result<Driver> {
        let networks = [(false, 24), (true, 112)].map(|(is_ipv6, prefix)| Network {
            address: self.both(is_ipv6)[0],
            prefix,
        });
        let device = Device {
            name: self.device.clone(),
            mtu: self.mtu,
            networks: networks.to_vec(),
            offload: self.offload,
        };
        let mut driver = Driver::new(&device)?;
        if let Some(path) = &self.pcap {
            driver.capture(path)?;
        }
        Ok(driver)
    }
}

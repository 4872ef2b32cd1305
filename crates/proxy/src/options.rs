//! The command line of `airtcp proxy`.

use std::net::SocketAddr;
use std::path::PathBuf;

use airtcp_host::changes::Places;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// Split TCP connections: terminate them here and open new ones to the server
///
/// Each client connection is terminated on this machine and relayed over a second connection to the
/// server, so that radio losses are repaired locally. The mobile side can use a different TCP
/// (--mobile-stack). With --transparent both ends see each other's addresses: run it as root on the
/// router between them; routes and rules are recorded before they are set, and removed with the
/// proxy, even after kill -9.
///
/// Example: airtcp proxy --listen 0.0.0.0:8080 --to web.example:80 --mobile-stack linux-bbr
///
/// Example: airtcp proxy --listen :3129 --transparent --device wlan0 --mobile-stack linux-newzag
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Where clients' connections end: an address with a port, or with --transparent a port of
    /// every address, such as :3129
    #[arg(
        long,
        value_name = "ADDR:PORT",
        value_parser = listen,
        required_unless_present = "status"
    )]
    pub listen: Option<SocketAddr>,
    /// The server to which connections are relayed
    #[arg(
        long,
        value_name = "HOST:PORT",
        required_unless_present_any = ["transparent", "status"],
        conflicts_with = "transparent"
    )]
    pub to: Option<String>,
    /// Intercept connections through this machine, preserving both addresses
    #[arg(long, requires = "device")]
    pub transparent: bool,
    /// The device on which the clients of --transparent arrive
    #[arg(long, value_name = "DEVICE", requires = "transparent", value_parser = device)]
    pub device: Option<String>,
    /// Intercept only connections to this port; repeatable
    #[arg(
        long,
        value_name = "PORT",
        requires = "transparent",
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub port: Vec<u16>,
    /// The side across the radio
    #[arg(long, value_name = "SIDE", default_value = "clients")]
    pub mobile: Mobile,
    /// TCP of the mobile side: linux-NAME is the kernel's, with one of its congestion controls or
    /// one from the catalogue, such as linux-bbr or linux-newzag:adjusted=1; any other profile or
    /// remedy, such as newreno+rto-factor:factor=10, runs airtcp's TCP on a TUN device
    #[arg(long, value_name = "STACK")]
    pub mobile_stack: Option<String>,
    /// Start with the final window of past connections to the same server, remembered in FILE
    /// (wsc-best-start; airtcp's TCP only)
    #[arg(long, value_name = "FILE", requires = "mobile_stack")]
    pub sessions: Option<PathBuf>,
    /// Maximum concurrent connections; by default 10000, or as many as open files allow
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub connections: Option<u32>,
    /// Memory limit for buffered data, in MiB
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 512,
        value_parser = clap::value_parser!(u32).range(8..=1_048_576)
    )]
    pub memory: u32,
    /// Buffer limit per direction of a connection on either side, in KiB
    #[arg(
        long,
        value_name = "KIB",
        default_value_t = 4096,
        value_parser = clap::value_parser!(u32).range(4..=1_048_576)
    )]
    pub buffer: u32,
    /// Print a line of statistics per second to standard error
    #[arg(long)]
    pub stats: bool,
    /// Serve the same numbers to Prometheus at this address
    #[arg(long, value_name = "ADDR:PORT", value_parser = listen)]
    pub metrics: Option<SocketAddr>,
    /// Take over from the proxy with this process id without resets: its listeners, connections and
    /// rules. Needs the same --listen, --transparent, --device, --port and --state, and a kernel
    /// stack. On SIGUSR2 a proxy with --transparent starts its successor this way
    #[arg(long, value_name = "PROCESS")]
    pub take_over: Option<u32>,
    /// Print the status of the proxies in this network namespace, one JSON object each, and exit
    #[arg(long)]
    pub status: bool,
    #[command(flatten)]
    pub(super) places: Places,
}

/// The side of a connection across the radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mobile {
    /// The clients.
    Clients,
    /// The servers.
    Servers,
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    let everywhere = text.strip_prefix(':').map(|port| format!("[::]:{port}"));
    let address: SocketAddr = everywhere.as_deref().unwrap_or(text).parse().map_err(|_| {
        "expected an address with a port such as 10.0.0.1:8080, or :8080".to_owned()
    })?;
    if address.port() == 0 {
        return Err("expected a port above 0".to_owned());
    }
    Ok(address)
}

/// The kernel's rule for names of devices (dev_valid_name).
fn device(text: &str) -> Result<String, String> {
    let is_valid = (1..=15).contains(&text.len())
        && text != "."
        && text != ".."
        && !text.contains(|letter: char| letter == '/' || letter == ':' || letter.is_whitespace());
    if is_valid {
        Ok(text.to_owned())
    } else {
        Err("expected the name of a network device such as wlan0".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_that_of_every_address() {
        assert_eq!(listen(":80"), Ok("[::]:80".parse().unwrap()));
        assert_eq!(listen("10.0.0.1:80"), Ok("10.0.0.1:80".parse().unwrap()));
        for wrong in ["80", "10.0.0.1", ":0", "x:80", ":65536"] {
            assert!(listen(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_device_has_a_name_that_the_kernel_takes() {
        assert!(device("wlan0").is_ok());
        for wrong in ["", "a/b", "sixteen-letters!", "..", "a b", "eth0:1"] {
            assert!(device(wrong).is_err(), "{wrong}");
        }
    }
}

//! A script's options (`--name=value`), as it is run here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use airtcp_tcp::Config;
use airtcp_units::Duration;

use super::stop::{Stop, unsupported};

/// Tolerance of an event's time, unless the script sets another (packetdrill's default).
const TOLERANCE: Duration = Duration::from_micros(4000);
/// Ethernet's MTU, which an option `--mtu` may change.
const MTU: u16 = 1500;
/// packetdrill's addresses.
const LOCAL: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
const REMOTE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const LOCAL_IPV6: Ipv6Addr = Ipv6Addr::new(0xfd3d, 0x0a0b, 0x17d6, 0, 0, 0, 0, 1);
const REMOTE_IPV6: Ipv6Addr = Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1);

/// The values of the options.
#[derive(Debug)]
pub(super) struct Setup {
    pub config: Config,
    pub tolerance: Duration,
    /// Bytes of an IP packet.
    pub mtu: u16,
    pub local: IpAddr,
    pub remote: IpAddr,
}

impl Setup {
    /// packetdrill's defaults over a stack.
    pub fn new(config: &Config) -> Self {
        Self {
            config: *config,
            tolerance: TOLERANCE,
            mtu: MTU,
            local: LOCAL.into(),
            remote: REMOTE.into(),
        }
    }

    /// Applies an option.
    pub fn apply(&mut self, name: &str, value: &str) -> Result<(), Stop> {
        match (name, value.parse::<u64>()) {
            ("tolerance_usecs", Ok(micros)) => self.tolerance = Duration::from_micros(micros),
            ("mtu", Ok(mtu)) => self.mtu = u16::try_from(mtu).unwrap_or(u16::MAX),
            // packetdrill segments arriving data for a device that aggregates it (`netdev.c`): the
            // endpoint gets it whole, and sends as its MTU and the peer allow.
            ("mss", Ok(_)) => {}
            ("tcp_ts_tick_usecs", Ok(0)) => {}
            ("local_ip" | "remote_ip", _) => {
                if let Ok(address) = value.parse() {
                    let place = match name {
                        "local_ip" => &mut self.local,
                        _ => &mut self.remote,
                    };
                    *place = address;
                }
            }
            ("tcp_ts_tick_usecs", Ok(micros)) => {
                self.config.timestamp_tick = Duration::from_micros(micros);
            }
            ("ip_version", _) => match value {
                // Mapped addresses only concern the socket: the packets are IPv4.
                "ipv4" | "ipv4_mapped_ipv6" => {}
                "ipv6" => self.use_ipv6(),
                _ => {
                    return unsupported(format!(
                        "--ip_version={value}: expected ipv4, ipv6 or ipv4_mapped_ipv6"
                    ));
                }
            },
            (
                "bind_port" | "non_fatal" | "send_omit_free" | "define" | "code" | "verbose"
                | "debug" | "gateway_ip" | "netmask_ip" | "tcp_ts_ecr_scaled" | "connect_port"
                | "init_scripts" | "persistent_tun_dev" | "speed",
                _,
            ) => {}
            _ => return unsupported(format!("the option --{name}={value}")),
        }
        Ok(())
    }

    /// packetdrill's addresses for IPv6, if the script names no address.
    fn use_ipv6(&mut self) {
        if self.local.is_ipv4() {
            self.local = LOCAL_IPV6.into();
        }
        if self.remote.is_ipv4() {
            self.remote = REMOTE_IPV6.into();
        }
    }
}

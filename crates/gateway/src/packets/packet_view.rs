//! Packets as the gateway sees them: only headers, as the payload does not concern it.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use airtcp_link::Stream;
use airtcp_link::agent::{FlowKey, Toward};
use airtcp_packet::wire::{self, WireError};
use airtcp_packet::{Ecn, Flags, Segment};
use airtcp_units::Probability;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ends {
    /// The mobile's address and port.
    pub mobile: SocketAddr,
    /// The address and port of the host on the wired side.
    pub wired: SocketAddr,
}

/// A TCP packet passing through the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketView {
    /// The ends of its connection.
    pub ends: Ends,
    /// Its direction.
    pub toward: Toward,
    /// Its headers.
    pub segment: Segment,
}

/// Parses the headers of a packet in direction `toward`. Its end may be truncated, and TCP's
/// checksum is not verified: a packet with pending checksum offload does not have one.
///
/// # Errors
///
/// The reason why the bytes are not a supported TCP packet; never panics.
pub fn read_headers(bytes: &[u8], toward: Toward) -> Result<PacketView, WireError> {
    let (tcp, tcp_bytes, addresses, ecn) = match bytes.first().ok_or(WireError::Truncated)? >> 4 {
        4 => read_ipv4(bytes)?,
        6 => read_ipv6(bytes)?,
        _ => return Err(WireError::Version),
    };
    let header = wire::parse_tcp_header(tcp)?;
    let payload = tcp_bytes
        .checked_sub(header.bytes)
        .ok_or(WireError::HeaderLength)?;
    let mut segment = header.segment;
    segment.payload_bytes = u32::try_from(payload).map_err(|_| WireError::TooLong)?;
    segment.ecn = ecn;
    let [source, destination] =
        [0, 1].map(|end| SocketAddr::new(addresses[end], header.ports[end]));
    let ends = match toward {
        Toward::Mobile => Ends {
            mobile: destination,
            wired: source,
        },
        Toward::Wired => Ends {
            mobile: source,
            wired: destination,
        },
    };
    Ok(PacketView {
        ends,
        toward,
        segment,
    })
}

/// The available part of the TCP segment, its full length, source and destination, and the ECN
/// field.
type IpPayload<'a> = (&'a [u8], usize, [IpAddr; 2], Ecn);

fn read_ipv4(bytes: &[u8]) -> Result<IpPayload<'_>, WireError> {
    let fixed: &[u8; 20] = bytes.first_chunk().ok_or(WireError::Truncated)?;
    let word = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let (header, total) = (usize::from(fixed[0] & 0xf) * 4, usize::from(word(2)));
    if header < fixed.len() || total < header {
        return Err(WireError::HeaderLength);
    }
    // More fragments, or an offset (RFC 791 §3.1).
    if word(6) & 0x3fff != 0 {
        return Err(WireError::Fragment);
    }
    if fixed[9] != TCP {
        return Err(WireError::NotTcp);
    }
    let address = |at: usize| Ipv4Addr::from(std::array::from_fn(|byte| fixed[at + byte]));
    let tcp = bytes
        .get(header..bytes.len().min(total))
        .ok_or(WireError::Truncated)?;
    let addresses = [address(12).into(), address(16).into()];
    Ok((tcp, total - header, addresses, Ecn::from_bits(fixed[1])))
}

fn read_ipv6(bytes: &[u8]) -> Result<IpPayload<'_>, WireError> {
    let (fixed, rest) = bytes
        .split_first_chunk::<40>()
        .ok_or(WireError::Truncated)?;
    if fixed[6] != TCP {
        return Err(WireError::NotTcp);
    }
    let total = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let address = |at: usize| Ipv6Addr::from(std::array::from_fn(|byte| fixed[at + byte]));
    let addresses = [address(8).into(), address(24).into()];
    let tcp = &rest[..rest.len().min(total)];
    Ok((tcp, total, addresses, Ecn::from_bits(fixed[1] >> 4)))
}

/// TCP's number in the protocol field (RFC 9293 §3.1).
const TCP: u8 = 6;

/// Whether the segment begins, ends or resets the connection: these never wait in a queue.
pub fn is_of_the_connection(segment: &Segment) -> bool {
    [Flags::SYN, Flags::FIN, Flags::RST]
        .into_iter()
        .any(|flag| segment.flags.contains(flag))
}

/// A connection's assignment to its group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assignment {
    /// Whether it is treated.
    pub is_treated: bool,
    /// The probability of treatment.
    pub chance: f64,
    /// Whether all connections of its station are in one group.
    pub is_by_station: bool,
}

/// Identifies connections, and assigns them to groups.
#[derive(Clone, Debug)]
pub struct FlowKeys {
    /// Keyed with a secret, so that no outsider can craft connections that collide.
    secret: RandomState,
    /// The same for every gateway with that seed, so that a connection keeps its group across a
    /// restart.
    coin: Stream,
    share: Probability,
    /// Whether a mobile's connections are all in one group.
    is_by_station: bool,
}

impl FlowKeys {
    /// Creates keys that treat `share` of all connections, or of all mobiles if `is_by_station`.
    pub fn new(seed: u64, share: Probability, is_by_station: bool) -> Self {
        Self {
            secret: RandomState::new(),
            coin: Stream::new(seed, "gateway.share"),
            share,
            is_by_station,
        }
    }

    /// The same keys with a different treated share.
    #[must_use]
    pub fn with(self, seed: u64, share: Probability, is_by_station: bool) -> Self {
        Self {
            secret: self.secret,
            ..Self::new(seed, share, is_by_station)
        }
    }

    /// The connection's key.
    pub fn key(&self, ends: &Ends) -> FlowKey {
        self.secret.hash_one(ends)
    }

    /// Whether the connection is treated rather than in the control group.
    pub fn is_treated(&self, ends: &Ends) -> bool {
        let of_address = |coin: Stream, address: IpAddr| {
            let address = match address {
                IpAddr::V4(address) => u128::from(address.to_bits()),
                IpAddr::V6(address) => address.to_bits(),
            };
            coin.substream((address >> 64) as u64)
                .substream(address as u64)
        };
        let coin = if self.is_by_station {
            of_address(self.coin, ends.mobile.ip())
        } else {
            [ends.mobile, ends.wired]
                .into_iter()
                .fold(self.coin, |coin, end| {
                    of_address(coin, end.ip()).substream(u64::from(end.port()))
                })
        };
        self.share.happens(coin.draw(0))
    }

    /// The connection's assignment.
    pub fn assign(&self, ends: &Ends) -> Assignment {
        Assignment {
            is_treated: self.is_treated(ends),
            chance: self.share.as_f64(),
            is_by_station: self.is_by_station,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddrV4, SocketAddrV6};

    use airtcp_packet::wire::{Addresses, emit, emit_ipv6};
    use airtcp_packet::{SequenceNumber, Timestamps};

    use super::*;

    fn segment() -> Segment {
        Segment {
            sequence: SequenceNumber(5),
            acknowledgment: SequenceNumber(6),
            payload_bytes: 100,
            flags: Flags::ACK,
            timestamps: Some(Timestamps { value: 7, echo: 8 }),
            ..Segment::default()
        }
    }

    fn packets() -> [Vec<u8>; 2] {
        let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
        let end = |text: &str| text.parse::<SocketAddrV4>().unwrap();
        let addresses = Addresses {
            source: end("10.0.0.1:1000"),
            destination: end("10.0.0.2:80"),
        };
        emit(&segment(), &addresses, 1, &[], &mut ipv4).unwrap();
        let end = |text: &str| text.parse::<SocketAddrV6>().unwrap();
        let addresses = Addresses {
            source: end("[fd00::1]:1000"),
            destination: end("[fd00::2]:80"),
        };
        emit_ipv6(&segment(), &addresses, 1, &[], &mut ipv6).unwrap();
        [ipv4, ipv6]
    }

    /// Packets are parsed with their full length, whatever part of the payload is available.
    #[test]
    fn headers_are_read_without_the_payload() {
        for mut packet in packets() {
            let headers = packet.len() - 100;
            // A checksum pending offload.
            packet[headers - 32 + 16] ^= 0xff;
            for kept in headers..=packet.len() {
                let seen = read_headers(&packet[..kept], Toward::Mobile).unwrap();
                assert_eq!(seen.segment, segment());
                assert_eq!(
                    (seen.ends.wired.port(), seen.ends.mobile.port()),
                    (1000, 80)
                );
            }
            assert!(read_headers(&packet[..headers - 32 + 19], Toward::Mobile).is_err());
            let back = read_headers(&packet, Toward::Wired).unwrap();
            assert_eq!(
                (back.ends.wired.port(), back.ends.mobile.port()),
                (80, 1000)
            );
        }
    }

    #[test]
    fn what_is_no_whole_tcp_packet_is_refused() {
        let [mut ipv4, mut ipv6] = packets();
        ipv4[9] = 17;
        ipv6[6] = 17;
        assert_eq!(read_headers(&ipv4, Toward::Mobile), Err(WireError::NotTcp));
        assert_eq!(read_headers(&ipv6, Toward::Mobile), Err(WireError::NotTcp));
        ipv4[9] = 6;
        ipv4[7] = 1;
        assert_eq!(
            read_headers(&ipv4, Toward::Mobile),
            Err(WireError::Fragment)
        );
        assert_eq!(read_headers(&[], Toward::Mobile), Err(WireError::Truncated));
    }

    /// A fifth of 20 000 connections, ± 5 standard deviations of sqrt(20 000 · 0.2 · 0.8) = 57, and
    /// the same ones in the next process.
    #[test]
    fn the_share_is_a_share_and_stays() {
        let share = Probability::new(0.2).unwrap();
        let (keys, again) = (
            FlowKeys::new(1, share, false),
            FlowKeys::new(1, share, false),
        );
        let mut treated = 0_i32;
        for number in 0..20_000_u32 {
            let ends = Ends {
                mobile: SocketAddr::new(Ipv4Addr::from_bits(0x0a00_0000 + number).into(), 40_000),
                wired: "192.0.2.1:443".parse().unwrap(),
            };
            assert_eq!(keys.is_treated(&ends), again.is_treated(&ends));
            treated += i32::from(keys.is_treated(&ends));
        }
        assert!((treated - 4000).abs() < 5 * 57, "{treated}");
    }

    /// By station, all connections of a mobile are in the same group.
    #[test]
    fn a_stations_connections_stay_together() {
        let keys = FlowKeys::new(1, Probability::new(0.5).unwrap(), true);
        let is_treated = |host: u8, port| {
            keys.is_treated(&Ends {
                mobile: ([10, 0, 0, host], port).into(),
                wired: ([192, 0, 2, port as u8], 443).into(),
            })
        };
        let mut treated = 0;
        for host in 0..64 {
            let first = is_treated(host, 1);
            assert!((2..50).all(|port| is_treated(host, port) == first));
            treated += u32::from(first);
        }
        // 32 and four standard deviations of 4.
        assert!((16..=48).contains(&treated), "{treated}");
    }

    /// Damage anywhere is parsed without a panic; the result never has more payload than the packet
    /// claims.
    #[test]
    fn damaged_packets_never_panic() {
        for seed in 0..20_000 {
            let draws = Stream::new(seed, "sighting.test");
            let mut packet = packets()[(draws.draw(0) % 2) as usize].clone();
            for damage in 0..1 + draws.draw(1) % 4 {
                let at = draws.draw(2 * damage + 2) as usize % packet.len();
                packet[at] = draws.draw(2 * damage + 3) as u8;
            }
            packet.truncate(draws.draw(99) as usize % (packet.len() + 1));
            if let Ok(seen) = read_headers(&packet, Toward::Wired) {
                assert!(seen.segment.payload_bytes < 1 << 16, "seed {seed}");
            }
        }
    }
}

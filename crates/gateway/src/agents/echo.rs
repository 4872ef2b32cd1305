//! Writes a changed timestamp echo into a packet, without touching other options or fields.

/// Timestamps (RFC 7323 §3.2), and the kinds without a length (RFC 9293 §3.1).
const TIMESTAMPS: u8 = 8;
const TIMESTAMPS_BYTES: u8 = 10;
const END: u8 = 0;
const NOP: u8 = 1;

/// Writes `echo` into the timestamps option of an IPv4 or IPv6 packet, and TCP's checksum. Returns
/// whether there is such an option.
pub fn write_echo(packet: &mut [u8], echo: u32) -> bool {
    let Some((tcp, at)) = echo_at(packet) else {
        return false;
    };
    let mut checksum = u16::from_be_bytes([packet[tcp + 16], packet[tcp + 17]]);
    for (byte, new) in (at..).zip(echo.to_be_bytes()) {
        // A byte is the high half of its word if it is at an even offset of the segment.
        let shift = if (byte - tcp).is_multiple_of(2) { 8 } else { 0 };
        let word = |value: u8| u16::from(value) << shift;
        checksum = updated(checksum, word(packet[byte]), word(new));
        packet[byte] = new;
    }
    packet[tcp + 16..tcp + 18].copy_from_slice(&checksum.to_be_bytes());
    true
}

/// Offsets of the TCP header and of the echo.
fn echo_at(packet: &[u8]) -> Option<(usize, usize)> {
    let tcp = match packet.first()? >> 4 {
        4 => usize::from(packet[0] & 0xf) * 4,
        6 => 40,
        _ => return None,
    };
    let end = tcp + usize::from(packet.get(tcp + 12)? >> 4) * 4;
    let mut at = tcp + 20;
    while at < end.min(packet.len()) {
        match packet[at] {
            END => return None,
            NOP => at += 1,
            kind => {
                let length = *packet.get(at + 1)?;
                if kind == TIMESTAMPS && length == TIMESTAMPS_BYTES {
                    return (at + 10 <= end.min(packet.len())).then_some((tcp, at + 6));
                }
                at += usize::from(length.max(2));
            }
        }
    }
    None
}

/// Updates a checksum after one of its words has changed (RFC 1624 §3, eq. 3).
const fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = !checksum as u32 + !before as u32 + after as u32;
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use airtcp_packet::wire::{Addresses, emit, parse};
    use airtcp_packet::{Flags, Segment, Timestamps};

    use super::*;

    #[test]
    fn the_echo_and_the_checksum_change_and_nothing_else() {
        for window_scale in [None, Some(7)] {
            let segment = Segment {
                flags: Flags::ACK,
                payload_bytes: 3,
                window_scale,
                timestamps: Some(Timestamps {
                    value: 5,
                    echo: 0xfff0_00ff,
                }),
                ..Segment::default()
            };
            let addresses = Addresses {
                source: "10.0.0.1:1".parse().unwrap(),
                destination: "10.0.0.2:2".parse().unwrap(),
            };
            let mut before = Vec::new();
            emit(&segment, &addresses, 3, b"abc", &mut before).unwrap();
            // A TTL and a TOS that the project's codecs never write.
            before[8] = 9;
            before[10..12].fill(0);
            let sum = before[..20].chunks(2).fold(0_u32, |sum, word| {
                sum + u32::from(u16::from_be_bytes([word[0], word[1]]))
            });
            let sum = !(((sum & 0xffff) + (sum >> 16)) as u16);
            before[10..12].copy_from_slice(&sum.to_be_bytes());
            for echo in [0, 1, 0xfff1_0100, u32::MAX] {
                let mut after = before.clone();
                assert!(write_echo(&mut after, echo));
                let read = parse(&after).unwrap().segment;
                assert_eq!(read.timestamps.unwrap().echo, echo);
                let changed = (0..after.len())
                    .filter(|&at| after[at] != before[at])
                    .count();
                assert!(changed <= 6, "{changed}");
            }
        }
        assert!(!write_echo(&mut [0x45; 30], 1));
        assert!(!write_echo(&mut [], 1));
    }
}

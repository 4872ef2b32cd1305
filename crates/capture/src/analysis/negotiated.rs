//! Options negotiated by the two ends: from their SYNs, otherwise from their behaviour.

use crate::flow::Flow;
use crate::packet::{Packet, Way};

/// Packets sampled to estimate the full segment size.
const PROBED: usize = 20_000;
/// Space that timestamps take in each header, with padding.
const TIMESTAMPS_BYTES: u32 = 12;
/// Minimum full segment; shorter ones are due to the application, not the path (RFC 9293 §3.7.1).
const MIN_SEGMENT: u32 = 536;
/// Full segment on Ethernet, the default without samples.
const MSS_BYTES: u32 = 1460;

/// Options negotiated by the ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NegotiatedOptions {
    /// Whether the capture shows the blocks that the receiver reports.
    pub has_sack: bool,
    /// Window scale announced by the receiver of the data.
    pub window_scale: Option<u8>,
    /// Payload of a full segment on the wire.
    pub mss: u32,
    /// Maximum negotiated payload: longer packets were aggregated by offload.
    pub longest: u32,
}

impl NegotiatedOptions {
    /// Determines the options of a flow with these `packets` and data in direction `way`.
    pub fn of(packets: impl Iterator<Item = Packet>, flow: &Flow, way: Way) -> Self {
        let (data, acks) = (flow.data(), flow.acks());
        let mut lengths: Vec<u32> = Vec::new();
        let mut has_blocks = false;
        for packet in packets.take(PROBED) {
            has_blocks |= !packet.segment.tail.blocks().is_empty();
            if packet.way == way && packet.segment.payload_bytes > 0 {
                lengths.push(packet.segment.payload_bytes);
            }
        }
        let announced = match (data.mss, acks.mss) {
            (Some(one), Some(other)) => Some(u32::from(one.min(other))),
            (one, other) => one.or(other).map(u32::from),
        };
        let option = if data.timestamps { TIMESTAMPS_BYTES } else { 0 };
        let most = announced.map_or(u32::MAX, |mss| mss.saturating_sub(option).max(1));
        let in_order = lengths.clone();
        let usual = match announced {
            Some(_) => most_frequent(&mut lengths),
            // Without SYNs nothing bounds packets aggregated by offload.
            None => common_divisor(&mut lengths).or_else(|| most_frequent(&mut lengths)),
        }
        .filter(|length| is_repeated(&in_order, *length));
        // If all are shorter, the application writes little at a time: no length shows the path's.
        let usual = usual
            .filter(|length| *length >= MIN_SEGMENT.min(most))
            .unwrap_or(if announced.is_some() { most } else { MSS_BYTES });
        // On a jumbo path two aggregated segments may be shorter than the negotiated maximum.
        let is_bound = announced.is_some() && most <= MSS_BYTES;
        let is_scaled = data.window_scale.is_some() && acks.window_scale.is_some();
        let has_syns = data.has_scale() && acks.has_scale();
        let is_agreed = data.sack_permitted && acks.sack_permitted;
        Self {
            has_sack: is_agreed && acks.cut_options == 0 || has_blocks,
            // Unknown unless both SYNs were captured whole; unused if either lacks the option.
            window_scale: match (has_syns, is_scaled) {
                (true, true) => acks.window_scale,
                (true, false) => Some(0),
                (false, _) => None,
            },
            mss: usual.min(most),
            longest: if is_bound { most } else { usual.min(most) },
        }
    }
}

/// The most frequent length, the longer of equally frequent ones.
fn most_frequent(lengths: &mut [u32]) -> Option<u32> {
    lengths.sort_unstable();
    let runs = lengths.chunk_by(|one, other| one == other);
    runs.max_by_key(|run| run.len()).map(|run| run[0])
}

/// Whether packets of this length mostly follow one another, as full segments do. The second part
/// of each message of an application follows the first.
fn is_repeated(lengths: &[u32], usual: u32) -> bool {
    let follows = |pair: &&[u32]| pair[0] == usual && pair[1].is_multiple_of(usual);
    let repeated = lengths.windows(2).filter(follows).count();
    let alone = lengths.windows(2).filter(|pair| pair[0] == usual).count() - repeated;
    repeated >= alone
}

/// The length that divides nearly all longer ones, as offload aggregates segments; `None` if no
/// length exceeds the most frequent.
fn common_divisor(lengths: &mut [u32]) -> Option<u32> {
    lengths.sort_unstable();
    let fewest = lengths.len() / 100 + 1;
    let mut behind = 0;
    for run in lengths.chunk_by(|one, other| one == other) {
        behind += run.len();
        let (length, longer) = (run[0], &lengths[behind..]);
        let multiples = longer.iter().filter(|other| **other % length == 0).count();
        if run.len() >= fewest
            && length >= MIN_SEGMENT
            && longer.len() >= fewest
            && multiples * 10 >= longer.len() * 9
        {
            return Some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_messages_are_no_full_segments() {
        assert!(is_repeated(&[300, 1348, 1348, 1348, 500], 1348));
        assert!(is_repeated(&[1448, 2896, 1448, 14_480, 1448], 1448));
        assert!(!is_repeated(&[100, 960, 100, 960, 100, 960], 960));
        assert!(is_repeated(&[], 1460));
    }

    #[test]
    fn joined_segments_tell_their_length() {
        let mut lengths = vec![1448, 2896, 2896, 14_480, 300, 1448, 65_160, 7240];
        assert_eq!(common_divisor(&mut lengths), Some(1448));
        let mut plain = vec![1448; 500];
        plain.push(300);
        assert_eq!(common_divisor(&mut plain), None);
    }
}

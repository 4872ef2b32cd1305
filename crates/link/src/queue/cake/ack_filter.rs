//! Drops acknowledgments that a later one in the same queue makes superfluous (Linux,
//! `net/sched/sch_cake.c`, `cake_ack_filter`).

use std::collections::VecDeque;

use airtcp_packet::{Flags, Segment};

use crate::frame::QueuedPacket;
use crate::queue::EcnField;

/// How aggressively acknowledgments are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckFilter {
    /// Never.
    #[default]
    Off,
    /// One is dropped if two are queued that the last one covers.
    On,
    /// One is dropped also if the last one covers it and follows it directly.
    Aggressive,
}

/// The index in `queue` of the acknowledgment to drop after the last packet has arrived.
pub(super) fn superfluous<P: EcnField>(
    filter: AckFilter,
    queue: &VecDeque<QueuedPacket<P>>,
) -> Option<usize> {
    let last = queue.len().checked_sub(1).filter(|&last| last > 0)?;
    let newest = &queue[last];
    let new = newest.packet.segment()?;
    if filter == AckFilter::Off || !new.flags.contains(Flags::ACK) || new.flags.contains(Flags::SYN)
    {
        return None;
    }
    let mut eligible: Option<(usize, Flags)> = None;
    let mut found = 0;
    for (place, waiting) in queue.iter().enumerate().take(last) {
        if waiting.transmission.flow != newest.transmission.flow {
            continue;
        }
        let Some(old) = waiting.packet.segment() else {
            continue;
        };
        // Congestion echoes must not be lost: the last acknowledgment before a change stays.
        if eligible.is_some_and(|(_, echo)| echo != echo_of(old)) {
            eligible = None;
            found -= 1;
        }
        if !covers(new, old) {
            continue;
        }
        let first = *eligible.get_or_insert((place, echo_of(old)));
        found += 1;
        if found > 1 {
            return Some(first.0);
        }
    }
    let (place, echo) = eligible?;
    let is_next = place + 1 == last && echo == echo_of(new);
    (filter == AckFilter::Aggressive && is_next).then_some(place)
}

/// Whether `old` carries no information that `new` lacks.
fn covers(new: &Segment, old: &Segment) -> bool {
    // AE was one of three reserved flags, with which Linux drops nothing (`cake_tcph_may_drop`).
    let is_plain = old.flags.bits() & !(Flags::ECE | Flags::CWR).bits() == Flags::ACK.bits()
        && !old.flags.contains(Flags::AE)
        && old.payload_bytes == 0
        && old.mss.is_none()
        && old.window_scale.is_none()
        && !old.sack_permitted;
    let stamps = new.timestamps.unwrap_or_default();
    let is_older = old
        .timestamps
        .is_none_or(|old| !is_after(old.value, stamps.value) && !is_after(old.echo, stamps.echo));
    if !is_plain || !is_older || is_after(old.acknowledgment.0, new.acknowledgment.0) {
        return false;
    }
    match says_more(old, new) {
        Selective::Less => true,
        Selective::Same => old.acknowledgment != new.acknowledgment,
        Selective::More => false,
    }
}

/// The SACK blocks of an acknowledgment compared with another one's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Selective {
    Less,
    Same,
    More,
}

/// Compares the SACK blocks of `old` with those in `new`; a duplicate SACK always counts as more
/// (`cake_tcph_sack_compare`).
fn says_more(old: &Segment, new: &Segment) -> Selective {
    let (olds, news) = (
        &old.tail.blocks()[..old.sack_blocks_on_wire()],
        &new.tail.blocks()[..new.sack_blocks_on_wire()],
    );
    match (olds.is_empty(), news.is_empty()) {
        (true, true) => return Selective::Same,
        (false, true) => return Selective::More,
        (true, false) => return Selective::Less,
        (false, false) => {}
    }
    let bytes = |blocks: &[airtcp_packet::SackBlock]| -> u64 {
        let lengths = blocks
            .iter()
            .map(|block| block.end.0.wrapping_sub(block.start.0));
        lengths.map(u64::from).sum()
    };
    for block in olds {
        let is_duplicate = is_after(old.acknowledgment.0, block.start.0);
        let is_covered = news
            .iter()
            .any(|new| !is_after(new.start.0, block.start.0) && !is_after(block.end.0, new.end.0));
        if is_duplicate || !is_covered {
            return Selective::More;
        }
    }
    if bytes(news) > bytes(olds) {
        Selective::Less
    } else {
        Selective::Same
    }
}

/// Its echo of congestion.
fn echo_of(segment: &Segment) -> Flags {
    Flags::from_bits(segment.flags.bits() & (Flags::ECE | Flags::CWR).bits())
}

/// Whether `a` is after `b` on a circle of 2^32 (RFC 9293 §3.4).
const fn is_after(a: u32, b: u32) -> bool {
    (b.wrapping_sub(a) as i32) < 0
}

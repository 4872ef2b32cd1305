//! Packets that a capture holds several times: of several interfaces, or of each layer of a stack,
//! as Windows' pktmon has them.

use airtcp_units::{Duration, Instant};

use crate::decode::Tcp;

/// Number of packets per direction that are remembered to recognise duplicates.
const REMEMBERED: usize = 4;
/// The same in a flow with `FEW` duplicates: a batch of packets passes one layer after another.
const REMEMBERED_OF_BATCHES: usize = 32;
const FEW: u32 = 2;
/// Maximum lateness of a duplicate: forwarding through one machine, and a radio's retransmission of
/// a frame.
const COPY_WITHIN: Duration = Duration::from_millis(20);

/// Properties of a packet that identify a duplicate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    time: Instant,
    sequence: u32,
    acknowledgment: u32,
    payload_bytes: u32,
    timestamp: u32,
    identification: Option<u16>,
    hops: u8,
    flags: u8,
    interface: u32,
}

impl Mark {
    /// Matches no packet: packets are shorter.
    const NONE: Self = Self {
        time: Instant::ZERO,
        sequence: 0,
        acknowledgment: 0,
        payload_bytes: u32::MAX,
        timestamp: 0,
        identification: None,
        hops: 0,
        flags: 0,
        interface: 0,
    };

    pub fn of(tcp: &Tcp, now: Instant, interface: u32) -> Self {
        let segment = &tcp.segment;
        Self {
            time: now,
            sequence: segment.sequence.0,
            acknowledgment: segment.acknowledgment.0,
            payload_bytes: segment.payload_bytes,
            timestamp: segment.timestamps.map_or(0, |both| both.value),
            identification: tcp.identification.filter(|number| *number != 0),
            hops: tcp.hops,
            flags: segment.flags.bits(),
            interface,
        }
    }

    /// Whether this is the same packet as `earlier`: the same content, and either the same
    /// identification or, without one, another interface or hop count.
    #[inline]
    fn repeats(&self, earlier: &Self) -> bool {
        self.sequence == earlier.sequence
            && self.acknowledgment == earlier.acknowledgment
            && self.payload_bytes == earlier.payload_bytes
            && self.timestamp == earlier.timestamp
            && self.flags == earlier.flags
            && self.identification == earlier.identification
            && self.time - earlier.time <= COPY_WITHIN
            && (self.identification.is_some()
                || self.interface != earlier.interface
                || self.hops != earlier.hops)
    }
}

/// The latest packets of one direction of a flow.
#[derive(Debug)]
pub(super) struct Copies {
    latest: [Mark; REMEMBERED],
    at: u8,
    /// Duplicates so far, up to `FEW`.
    found: u32,
    /// Earlier packets, in a flow with duplicates.
    earlier: Option<Box<[Mark; REMEMBERED_OF_BATCHES]>>,
    earlier_at: u8,
}

impl Default for Copies {
    fn default() -> Self {
        Self {
            latest: [Mark::NONE; REMEMBERED],
            at: 0,
            found: 0,
            earlier: None,
            earlier_at: 0,
        }
    }
}

impl Copies {
    /// Remembers a packet; whether it is the copy of one that is remembered.
    #[inline]
    pub fn takes(&mut self, mark: Mark) -> bool {
        let repeats = |earlier: &Mark| mark.repeats(earlier);
        let is_copy = self.latest.iter().any(repeats)
            || (self.earlier.as_ref()).is_some_and(|marks| marks.iter().any(repeats));
        if is_copy {
            self.found += 1;
            if self.found >= FEW {
                self.found = FEW;
                self.earlier
                    .get_or_insert_with(|| Box::new([Mark::NONE; REMEMBERED_OF_BATCHES]));
            }
            return true;
        }
        let at = usize::from(self.at);
        let displaced = std::mem::replace(&mut self.latest[at], mark);
        self.at = (self.at + 1) % REMEMBERED as u8;
        if let Some(earlier) = &mut self.earlier {
            earlier[usize::from(self.earlier_at)] = displaced;
            self.earlier_at = (self.earlier_at + 1) % REMEMBERED_OF_BATCHES as u8;
        }
        false
    }
}

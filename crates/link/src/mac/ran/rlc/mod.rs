//! Radio link control: TS 36.322 of LTE and TS 38.322 of NR over the same machine.
//!
//! Packets are a stream of bytes, and a sequence number is a range of it:
//!
//! ```text
//!   packets   |    A    |  B  |      C      |
//!   LTE       |   0   |   1    |  2  |  3   |      a PDU for each grant, across packets
//!   NR        |    0    |  1  |      2      |      a number for each packet, sent in segments
//! ```
//!
//! A PDU carries its number's range or a part of it. LTE cuts a range when it is sent first, and NR
//! when the packet is taken; retransmissions are cut again in both.

mod poll;
mod receiver;
mod status;
#[cfg(test)]
mod tests;
mod transmitter;

pub(super) use receiver::Receiver;
pub(super) use status::Status;
pub(super) use transmitter::Transmitter;

use super::config::Generation;

/// A half-open range of the stream of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bytes {
    pub start: u64,
    pub end: u64,
}

impl Bytes {
    pub(super) const fn len(self) -> u64 {
        self.end - self.start
    }
}

/// A PDU with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataPdu {
    /// Sequence number.
    pub number: u64,
    /// The range of the sequence number.
    pub whole: Bytes,
    /// The part that it carries.
    pub part: Bytes,
    /// Whether it polls a status.
    pub poll: bool,
    /// How often its content was retransmitted by RLC.
    pub retransmissions: u32,
}

/// Bytes of headers of RLC and MAC on a PDU that carries `part` of `whole`.
///
/// LTE: 2 of an AMD PDU, 2 more of a segment (TS 36.322 §6.2.1.4, §6.2.1.5), 3 of MAC (TS 36.321
/// §6.1.2). NR: 3 with numbers of 18 bits, 2 more of segments but the first (TS 38.322 §6.2.2.4),
/// 3 of MAC (TS 38.321 §6.1.2).
pub(super) const fn header(generation: Generation, whole: Bytes, part: Bytes) -> u64 {
    let is_whole = part.start == whole.start && part.end == whole.end;
    match generation {
        Generation::Lte if is_whole => 5,
        Generation::Lte => 7,
        Generation::Nr if part.start == whole.start => 6,
        Generation::Nr => 8,
    }
}

/// Largest of these headers.
pub(super) const MAX_HEADER: u64 = 8;

/// Bytes with which LTE delimits each further packet in a PDU: a length of 11 bits and a flag (TS
/// 36.322 §6.2.2.5), rounded up.
pub(super) const LENGTH_INDICATOR: u64 = 2;

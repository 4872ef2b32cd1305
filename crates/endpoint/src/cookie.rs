//! SYN cookies: a SYN-ACK with a sequence number that encodes the state that would otherwise have
//! to be kept (RFC 4987 §3.6; Linux, `syncookies.c`).
//!
//! ```text
//!   sequence number   31                            3 2     0
//!                     [ proof, of minute and options ][ MSS ]
//!   timestamp         31                 6 5    4     3     0
//!                     [ our clock         ][ECN][SACK][ scale]   scale 15: not offered
//! ```
//!
//! Without timestamps window scale, SACK and ECN are not agreed on.

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

use crate::secret::Secret;
use crate::tuple::FourTuple;

/// Minimum lifetime of a cookie; the maximum is twice that (Linux, `COOKIE_PERIOD` and
/// `MAX_SYNCOOKIE_AGE`: one and two minutes).
pub(crate) const PERIOD: Duration = Duration::from_secs(60);
/// The values to which an MSS is rounded down: those found on networks (Linux, `msstab`, and jumbo
/// frames).
const MSS: [u16; 8] = [48, 536, 1220, 1300, 1400, 1440, 1460, 8960];
/// Bits of the sequence number that select one.
const MSS_BITS: u32 = 3;
/// The option bits at the bottom of a timestamp.
const OPTION_BITS: u32 = 6;
const NO_SCALE: u32 = 15;
const SACK: u32 = 1 << 4;
const ECN: u32 = 1 << 5;

/// The part of a SYN that a cookie can encode, as a SYN.
pub(crate) fn remembered(syn: &Segment) -> Segment {
    let mss = syn.mss.unwrap_or(MSS[1]);
    let index = mss_index(mss);
    let mut kept = Segment {
        sequence: syn.sequence,
        flags: Flags::SYN,
        window: syn.window,
        mss: Some(MSS[index]),
        timestamps: syn.timestamps,
        ..Segment::default()
    };
    if syn.timestamps.is_some() {
        kept.window_scale = syn.window_scale.map(|scale| scale.min(14));
        kept.sack_permitted = syn.sack_permitted;
        kept.flags =
            Flags::from_bits(syn.flags.bits() & (Flags::SYN | Flags::ECE | Flags::CWR).bits());
        kept.ecn = syn.ecn;
    }
    kept
}

fn mss_index(mss: u16) -> usize {
    MSS.iter().rposition(|&value| value <= mss).unwrap_or(0)
}

/// Returns the sequence number of the SYN-ACK that answers `syn`, as [`remembered`].
pub(crate) fn sequence_number(
    secret: &Secret,
    now: Instant,
    tuple: &FourTuple,
    syn: &Segment,
) -> SequenceNumber {
    let index = mss_index(syn.mss.unwrap_or(0)) as u32;
    SequenceNumber(proof(secret, period(now), tuple, syn.sequence, index) | index)
}

#[expect(clippy::cast_possible_truncation, reason = "29 bits of it are used")]
fn proof(
    secret: &Secret,
    period: u64,
    tuple: &FourTuple,
    sequence: SequenceNumber,
    index: u32,
) -> u32 {
    (secret.cookie(tuple, sequence, index, period) as u32) << MSS_BITS
}

fn period(now: Instant) -> u64 {
    now.as_nanos() / PERIOD.as_nanos()
}

/// Returns the timestamp to send in place of `clock`, so that its echo encodes the options of
/// `syn`. It is never ahead of the clock.
pub(crate) const fn timestamp(clock: u32, syn: &Segment, ecn: bool) -> u32 {
    let scale = match syn.window_scale {
        Some(scale) if scale < 15 => scale as u32,
        _ => NO_SCALE,
    };
    let mut options = scale;
    if syn.sack_permitted {
        options |= SACK;
    }
    if ecn {
        options |= ECN;
    }
    let value = clock >> OPTION_BITS << OPTION_BITS | options;
    // Rounded down, never up (Linux, `cookie_init_timestamp`).
    if value > clock {
        value.wrapping_sub(1 << OPTION_BITS)
    } else {
        value
    }
}

/// Returns the SYN that `acknowledgment` completes, if it answers a cookie of ours.
pub(crate) fn syn(
    secret: &Secret,
    now: Instant,
    tuple: &FourTuple,
    acknowledgment: &Segment,
) -> Option<(SequenceNumber, Segment)> {
    let cookie = acknowledgment.acknowledgment.0.wrapping_sub(1);
    let sequence = SequenceNumber(acknowledgment.sequence.0.wrapping_sub(1));
    let index = cookie & ((1 << MSS_BITS) - 1);
    let is_ours = |period| proof(secret, period, tuple, sequence, index) | index == cookie;
    let current = period(now);
    if !is_ours(current) && !is_ours(current.wrapping_sub(1)) {
        return None;
    }
    let mut syn = Segment {
        sequence,
        flags: Flags::SYN,
        window: acknowledgment.window,
        mss: MSS.get(index as usize).copied(),
        timestamps: acknowledgment.timestamps,
        ..Segment::default()
    };
    if let Some(timestamps) = &mut syn.timestamps {
        let options = timestamps.echo;
        let scale = options & NO_SCALE;
        syn.window_scale = (scale != NO_SCALE).then_some(scale as u8);
        syn.sack_permitted = options & SACK != 0;
        if options & ECN != 0 {
            syn.flags |= Flags::ECE | Flags::CWR;
        }
        timestamps.echo = 0;
    }
    Some((SequenceNumber(cookie), syn))
}

#[cfg(test)]
mod tests {
    use airtcp_packet::Timestamps;
    use proptest::prelude::*;

    use super::*;

    fn tuple() -> FourTuple {
        FourTuple {
            local: "10.0.0.1:80".parse().unwrap(),
            remote: "10.0.0.2:5000".parse().unwrap(),
        }
    }

    proptest! {
        /// A SYN's options return with the acknowledgment, in the same minute and the next; from
        /// another port, or minutes later, they do not.
        #[test]
        fn a_cookie_brings_back_the_syn(
            sequence: u32, mss in 48_u16.., scale in proptest::option::of(0_u8..15),
            sack: bool, stamps: Option<u32>, seconds in 0_u64..1_000_000, later in 0_u64..60,
            clock in 64_u32..
        ) {
            let secret = Secret::new([7; 16]);
            let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
            let asked = Segment {
                sequence: SequenceNumber(sequence),
                flags: Flags::SYN,
                mss: Some(mss),
                window_scale: scale,
                sack_permitted: sack,
                timestamps: stamps.map(|value| Timestamps { value, echo: 0 }),
                ..Segment::default()
            };
            let kept = remembered(&asked);
            let cookie = sequence_number(&secret, at(seconds), &tuple(), &kept);
            let echo = timestamp(clock, &kept, false);
            prop_assert!(echo <= clock && clock - echo < 64);
            let answer = Segment {
                sequence: asked.sequence + 1,
                acknowledgment: cookie + 1,
                flags: Flags::ACK,
                timestamps: stamps.map(|value| Timestamps { value, echo }),
                ..Segment::default()
            };
            let (isn, found) = syn(&secret, at(seconds + later), &tuple(), &answer).unwrap();
            prop_assert_eq!(isn, cookie);
            prop_assert_eq!(found, Segment { window: 0, ..kept });
            prop_assert!(found.mss.unwrap() <= mss);
            let late = syn(&secret, at(seconds + 180), &tuple(), &answer);
            prop_assert!(late.is_none());
            let mut other = tuple();
            other.remote.set_port(5001);
            prop_assert!(syn(&secret, at(seconds), &other, &answer).is_none());
        }
    }
}

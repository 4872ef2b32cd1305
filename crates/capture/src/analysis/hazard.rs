//! The hazard of loss over the length of the queue: flat where the radio loses, a rise at the top
//! where the queue drops.

use super::follow::Sent;
use super::label::Cause;

/// Bins from an empty queue to the longest.
const BINS: usize = 20;
/// The top begins at this share of the longest queue.
const TOP: f64 = 0.85;
/// Below this share a queue is far from full.
const FAR_FROM_FULL: f64 = 0.6;
/// Fewer losses at the top show nothing.
const LEAST_TOP_LOSSES: f64 = 5.0;
/// Standard deviations above a flat hazard that are no chance.
const SIGMAS: f64 = 3.0;
/// Fewer losses in all show nothing of their cause, unless the queue was empty.
const LEAST_LOSSES: u64 = 8;
/// A queue of fewer packets than these drops none.
const SHORT_QUEUE_PACKETS: f64 = 3.0;
/// The longest queue is this quantile, since a few measurements are wrong.
const LONGEST: f64 = 0.995;

/// First transmissions that met a queue of a certain length, and those of them that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Bytes in the queue, from.
    pub low: u64,
    /// And up to.
    pub high: u64,
    /// First transmissions.
    pub transmissions: u64,
    /// Those that were lost.
    pub lost: u64,
}

/// The hazard of loss over the length of the queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hazard {
    /// Equal steps of the queue's length.
    pub bins: Vec<Bin>,
    /// The longest queue in bytes.
    pub longest_bytes: u64,
    /// The rise at the top is no chance: the queue drops.
    pub shows_tail_drop: bool,
    /// The hazard below the top.
    pub below: f64,
    /// The hazard at the top.
    pub top: f64,
    /// How many losses there are.
    pub losses: u64,
    packet_bytes: f64,
}

impl Hazard {
    /// The hazard of a flow. Retransmissions are left out: they meet the queue of their moment as
    /// all packets do, but what happens to them is known less well.
    pub(super) fn of(sent: &[Sent], queues: &[u64]) -> Self {
        let first = |pair: &(&Sent, &u64)| pair.0.attempt == 0;
        let met: Vec<(u64, bool)> = sent
            .iter()
            .zip(queues)
            .filter(first)
            .map(|(packet, bytes)| (*bytes, packet.is_lost))
            .collect();
        let whole = sent.iter().map(|packet| u64::from(packet.ip_bytes)).max();
        Self::of_met(&met, whole.unwrap_or(0) as f64)
    }

    fn of_met(met: &[(u64, bool)], packet_bytes: f64) -> Self {
        let mut lengths: Vec<u64> = met.iter().map(|(bytes, _)| *bytes).collect();
        lengths.sort_unstable();
        let at = (lengths.len() as f64 * LONGEST) as usize;
        let Some(longest) = lengths
            .get(at.min(lengths.len().saturating_sub(1)))
            .copied()
        else {
            return Self::default();
        };
        let step = (longest / BINS as u64).max(1);
        let mut bins: Vec<Bin> = (0..BINS as u64)
            .map(|bin| Bin {
                low: bin * step,
                high: (bin + 1) * step,
                ..Bin::default()
            })
            .collect();
        let edge = (longest as f64 * TOP) as u64;
        let (mut top, mut below) = ([0_u64; 2], [0_u64; 2]);
        for (bytes, is_lost) in met {
            let bin = ((bytes / step) as usize).min(BINS - 1);
            bins[bin].transmissions += 1;
            bins[bin].lost += u64::from(*is_lost);
            let part = if *bytes >= edge { &mut top } else { &mut below };
            part[0] += 1;
            part[1] += u64::from(*is_lost);
        }
        let hazard = |part: [u64; 2]| part[1] as f64 / part[0].max(1) as f64;
        // What the top would lose if it lost as the rest does.
        let expected = hazard(below) * top[0] as f64;
        let lost = top[1] as f64;
        let is_rise = lost >= LEAST_TOP_LOSSES
            && lost - expected > SIGMAS * libm::sqrt(expected.max(1.0))
            && longest as f64 >= SHORT_QUEUE_PACKETS * packet_bytes;
        Self {
            bins,
            longest_bytes: longest,
            shows_tail_drop: is_rise,
            below: hazard(below),
            top: hazard(top),
            losses: top[1] + below[1],
            packet_bytes,
        }
    }

    /// What lost a packet that met a queue of `bytes`.
    #[must_use]
    pub fn cause(&self, bytes: Option<u64>) -> Cause {
        let Some(bytes) = bytes else {
            return Cause::NotShown;
        };
        let (bytes, longest) = (bytes as f64, self.longest_bytes as f64);
        if bytes < SHORT_QUEUE_PACKETS * self.packet_bytes {
            return Cause::Radio;
        }
        if self.shows_tail_drop && bytes >= TOP * longest {
            // Of the losses at the top, these would be there without a queue.
            return if self.below > 0.5 * self.top {
                Cause::NotShown
            } else {
                Cause::TailDrop
            };
        }
        if bytes <= FAR_FROM_FULL * longest || self.losses >= LEAST_LOSSES {
            Cause::Radio
        } else {
            Cause::NotShown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1500;

    /// Queues from nothing to 100 packets, each met equally often; every `every`-th packet is lost,
    /// and at a full queue one of two.
    fn met(every: usize, drops: bool) -> Vec<(u64, bool)> {
        (0..20_000_usize)
            .map(|number| {
                let packets = number * 7919 % 101;
                let is_lost = number % every == 0 || drops && packets >= 99 && number % 2 == 0;
                (packets as u64 * PACKET, is_lost)
            })
            .collect()
    }

    #[test]
    fn a_flat_hazard_is_the_radios() {
        let hazard = Hazard::of_met(&met(100, false), PACKET as f64);
        assert!(!hazard.shows_tail_drop, "{hazard:?}");
        assert!((hazard.below - 0.01).abs() < 0.001 && (hazard.top - 0.01).abs() < 0.003);
        for packets in [0, 50, 100] {
            assert_eq!(hazard.cause(Some(packets * PACKET)), Cause::Radio);
        }
        assert_eq!(hazard.cause(None), Cause::NotShown);
    }

    #[test]
    fn a_rise_at_the_top_is_the_queues() {
        for every in [100, 50_000] {
            let hazard = Hazard::of_met(&met(every, true), PACKET as f64);
            assert!(hazard.shows_tail_drop, "{hazard:?}");
            assert_eq!(hazard.cause(Some(100 * PACKET)), Cause::TailDrop);
            assert_eq!(hazard.cause(Some(20 * PACKET)), Cause::Radio);
        }
    }

    /// Two losses say nothing of a cause where the queue was long, but an empty queue drops none.
    #[test]
    fn few_losses_show_no_cause() {
        let mut few: Vec<(u64, bool)> = (0..1000).map(|number| (number * 100, false)).collect();
        few[950].1 = true;
        few[990].1 = true;
        let hazard = Hazard::of_met(&few, PACKET as f64);
        assert_eq!(hazard.cause(Some(99_000)), Cause::NotShown);
        assert_eq!(hazard.cause(Some(1000)), Cause::Radio);
        assert_eq!(Hazard::of_met(&[], 1.0).cause(Some(9)), Cause::NotShown);
    }
}

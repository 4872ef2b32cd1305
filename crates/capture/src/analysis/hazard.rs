//! The hazard of loss as a function of the queue length: flat for a radio, rising at the top for a
//! queue that drops.

use super::findings::Sent;
use super::label::Cause;

/// Number of bins from an empty queue to the longest.
const BINS: usize = 20;
/// Minimum length of a dropping queue, relative to the longest seen.
const LOWEST_TOP: f64 = 0.4;
/// Maximum share of the longest queue that is far from full.
const FAR_FROM_FULL: f64 = 0.6;
/// Minimum number of losses at the top.
const MIN_TOP_LOSSES: f64 = 5.0;
/// Significance threshold, in standard deviations above a flat hazard, corrected for searching all
/// edges.
const SIGMAS: f64 = 4.5;
/// Minimum ratio of the hazard at the top to that below.
const MIN_RISE: f64 = 4.0;
/// Minimum number of losses to distinguish a queue from the radio, unless the queue was short.
const MIN_LOSSES: u64 = 8;
/// Minimum length in packets of a queue that drops.
const SHORT_QUEUE_PACKETS: f64 = 3.0;
/// Quantile used as the longest queue, since a few measurements are wrong.
const MAX: f64 = 0.995;

/// First transmissions that met a queue length in a range, and their losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Lower bound of the queue length, in bytes.
    pub low: u64,
    /// Upper bound of the queue length, in bytes.
    pub high: u64,
    /// Number of first transmissions.
    pub transmissions: u64,
    /// Number of losses among them.
    pub lost: u64,
}

/// Transmissions and losses of several bins.
fn sum(bins: &[Bin]) -> [u64; 2] {
    bins.iter().fold([0; 2], |sum, bin| {
        [sum[0] + bin.transmissions, sum[1] + bin.lost]
    })
}

fn hazard_of(part: [u64; 2]) -> f64 {
    part[1] as f64 / part[0].max(1) as f64
}

/// Log-likelihood of losses with the hazard estimated for their part.
fn log_likelihood(part: [u64; 2]) -> f64 {
    let of_each = |count: u64| match count {
        0 => 0.0,
        count => count as f64 * libm::log(count as f64 / part[0] as f64),
    };
    of_each(part[1]) + of_each(part[0].saturating_sub(part[1]))
}

/// The hazard of loss over the length of the queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hazard {
    /// Bins of equal width in queue length.
    pub bins: Vec<Bin>,
    /// The longest queue in bytes.
    pub longest_bytes: u64,
    /// Whether the rise at the top is significant: the queue drops.
    pub shows_tail_drop: bool,
    /// Start of the top, in bytes; the longest queue if there is no rise.
    pub top_bytes: u64,
    /// The hazard below the top.
    pub below: f64,
    /// The hazard at the top.
    pub top: f64,
    /// Number of losses.
    pub losses: u64,
    /// Gain in log-likelihood of the rise at the top over a flat hazard.
    pub gain: f64,
    /// One packet's part of the queue, in the unit of the queue.
    packet_bytes: f64,
}

impl Hazard {
    /// The hazard of a flow with `queues` met by its transmissions, where known. Excludes
    /// retransmissions: they meet the queue like all packets, but their fate is less certain.
    pub(super) fn of(sent: &[Sent], queues: &[u64], is_told: impl Fn(usize) -> bool) -> Self {
        let met: Vec<(u64, bool)> = sent
            .iter()
            .zip(queues)
            .enumerate()
            .filter(|(place, (packet, _))| packet.attempt == 0 && is_told(*place))
            .map(|(_, (packet, bytes))| (*bytes, packet.is_lost))
            .collect();
        let whole = sent.iter().map(|packet| u64::from(packet.ip_bytes)).max();
        Self::of_met(&met, whole.unwrap_or(0) as f64)
    }

    /// The hazard over the delay met by transmissions, in nanoseconds, where a packet takes
    /// `packet_nanos`. Includes all traffic in the queue.
    pub(super) fn of_delays(met: &[(u64, bool)], packet_nanos: u64) -> Self {
        Self::of_met(met, packet_nanos as f64)
    }

    fn of_met(met: &[(u64, bool)], packet_bytes: f64) -> Self {
        let mut lengths: Vec<u64> = met.iter().map(|(bytes, _)| *bytes).collect();
        lengths.sort_unstable();
        let at = (lengths.len() as f64 * MAX) as usize;
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
        for (bytes, is_lost) in met {
            let bin = ((bytes / step) as usize).min(BINS - 1);
            bins[bin].transmissions += 1;
            bins[bin].lost += u64::from(*is_lost);
        }
        let mut hazard = Self {
            longest_bytes: longest,
            top_bytes: longest,
            losses: bins.iter().map(|bin| bin.lost).sum(),
            packet_bytes,
            bins,
            ..Self::default()
        };
        hazard.find_rise();
        hazard
    }

    /// Finds the best edge with a rise above it: the longest queue need not be the one that drops,
    /// since a few measurements are wrong.
    fn find_rise(&mut self) {
        let flat = log_likelihood(sum(&self.bins));
        let least = (LOWEST_TOP * self.longest_bytes as f64)
            .max((SHORT_QUEUE_PACKETS - 1.0) * self.packet_bytes);
        let mut most = f64::NEG_INFINITY;
        self.below = hazard_of(sum(&self.bins));
        self.top = self.below;
        for edge in 1..self.bins.len() {
            let (low, high) = self.bins.split_at(edge);
            let (below, top) = (sum(low), sum(high));
            // Losses at the top under the hazard of the rest.
            let expected = hazard_of(below) * top[0] as f64;
            let lost = top[1] as f64;
            let sigmas = (lost - expected) / libm::sqrt(expected.max(1.0));
            let is_rise = lost >= MIN_TOP_LOSSES
                && hazard_of(top) >= MIN_RISE * hazard_of(below)
                && sigmas > SIGMAS
                && self.bins[edge].low as f64 >= least;
            // Not the edge with most losses above: one too low includes radio losses.
            let likelihood = log_likelihood(below) + log_likelihood(top);
            if is_rise && likelihood > most {
                most = likelihood;
                self.gain = likelihood - flat;
                self.shows_tail_drop = true;
                self.top_bytes = self.bins[edge].low;
                (self.below, self.top) = (hazard_of(below), hazard_of(top));
            }
        }
    }

    /// Whether a loss at a queue length of `bytes` is classified as a tail drop.
    #[must_use]
    pub fn is_full(&self, bytes: u64) -> bool {
        let bytes = bytes as f64;
        // The queue length is uncertain by a packet.
        self.shows_tail_drop
            && bytes >= SHORT_QUEUE_PACKETS * self.packet_bytes
            && bytes + self.packet_bytes >= self.top_bytes as f64
    }

    /// Cause of the loss of a packet that met a queue of `bytes`.
    #[must_use]
    pub fn cause(&self, bytes: Option<u64>) -> Cause {
        let Some(bytes) = bytes.filter(|_| !self.bins.is_empty()) else {
            return Cause::NotShown;
        };
        if self.is_full(bytes) {
            return Cause::TailDrop;
        }
        let (bytes, longest) = (bytes as f64, self.longest_bytes as f64);
        if bytes < SHORT_QUEUE_PACKETS * self.packet_bytes {
            return Cause::Radio;
        }
        if bytes <= FAR_FROM_FULL * longest || self.losses >= MIN_LOSSES {
            Cause::Radio
        } else {
            Cause::QueueOrRadio
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1500;

    /// Queues from empty to 100 packets, each met equally often; every `every`-th packet is lost,
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

    /// Few radio losses in the longer queues do not lower the edge.
    #[test]
    fn the_top_begins_where_the_queue_is_full() {
        let hazard = Hazard::of_met(&met(2000, true), PACKET as f64);
        assert!(hazard.shows_tail_drop, "{hazard:?}");
        assert!(hazard.top_bytes >= 94 * PACKET, "{hazard:?}");
        assert!(hazard.is_full(100 * PACKET) && !hazard.is_full(85 * PACKET));
    }

    /// Two losses in a long queue show no cause, but an empty queue drops nothing.
    #[test]
    fn few_losses_show_no_cause() {
        let mut few: Vec<(u64, bool)> = (0..1000).map(|number| (number * 100, false)).collect();
        few[950].1 = true;
        few[990].1 = true;
        let hazard = Hazard::of_met(&few, PACKET as f64);
        assert_eq!(hazard.cause(Some(99_000)), Cause::QueueOrRadio);
        assert_eq!(hazard.cause(Some(1000)), Cause::Radio);
        assert_eq!(Hazard::of_met(&[], 1.0).cause(Some(9)), Cause::NotShown);
    }
}

//! An AQM: it drops above some delay and never below, long before the queue is full (CoDel, RFC
//! 8289; PIE, RFC 8033). A radio loses at any delay.

use airtcp_units::{Duration, Instant};

use super::findings::Sent;

/// Minimum number of loss occasions.
const MIN_OCCASIONS: f64 = 5.0;
/// Candidate thresholds, in thousandths of the transmissions below: finer at the top, where the
/// queue of an AQM seldom is.
const EDGES: [usize; 23] = [
    50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850, 900, 950,
    970, 980, 990, 995,
];
/// Minimum of twice a threshold's gain in log-likelihood: one in ten thousand flat hazards reaches
/// it at a given edge (χ² with one degree of freedom), and there are 23 edges.
const MIN_GAIN: f64 = 15.1;
/// The same that leaves open whether the hazard is flat: one in a hundred reaches it at an edge.
const OPEN_GAIN: f64 = 6.63;
/// Maximum deficit in twice the log-likelihood of an equally plausible threshold (χ², 95 %).
const EQUAL_GAIN: f64 = 3.84;
/// Minimum ratio of the hazard above to that below, of an AQM and of a hazard that may be one.
const MIN_RATIO: f64 = 5.0;
const OPEN_RATIO: f64 = 2.0;
/// Minimum queueing delay in time and in packets; shorter delays are due to hosts or serialization.
const MIN_DELAY: Duration = Duration::from_millis(2);
const MIN_PACKETS_PERCENT: u64 = 150;
/// Uncertainty of a queue's length, in packets and as a share of it.
const BLUR_PACKETS: u64 = 3;
const BLUR_SHARE: u64 = 10;
/// Minimum number of packets that passed a longer queue; fewer may be measurement errors.
const MIN_BEYOND: usize = 10;
/// Minimum share of packets that passed a longer queue than the dropping one, of all that passed
/// one as long, in per cent; or of all, in thousandths, one twice as long.
const BEYOND_PERCENT: usize = 20;
const FAR_BEYOND_THOUSANDTHS: usize = 5;
/// Minimum probability that a loss above the threshold is the queue's, to classify it as such.
const SURE: f64 = 0.8;

/// A delay threshold above which a queue drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayThreshold {
    /// The delay.
    pub from: Duration,
    /// The lowest threshold that the losses admit instead.
    pub least: Duration,
    /// Probability that a loss above it is the queue's, not the radio's.
    pub likelihood: f64,
}

/// Dependence of losses on the delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Dependence {
    /// Losses occur at any delay.
    Flat,
    /// Losses occur above a delay.
    Above(DelayThreshold),
    /// Losses seem to occur above a delay, on too few occasions to be sure.
    Open(DelayThreshold),
    /// Too few losses to decide.
    NotShown,
}

/// Loss occasions: losses within a round trip belong to the same one.
struct Occasions {
    /// Values met by all transmissions, in order.
    all: Vec<u64>,
    lost: Vec<u64>,
}

impl Occasions {
    fn of(
        sent: &[Sent],
        met: &[u64],
        round_trip: Duration,
        counts: impl Fn(usize) -> bool,
    ) -> Self {
        let mut found = Self {
            all: Vec::with_capacity(sent.len()),
            lost: Vec::new(),
        };
        let mut last = Instant::ZERO;
        for (at, (packet, met)) in sent.iter().zip(met).enumerate() {
            if packet.attempt > 0 || !counts(at) {
                continue;
            }
            found.all.push(*met);
            if packet.is_lost && (packet.time >= last + round_trip || found.lost.is_empty()) {
                found.lost.push(*met);
                last = packet.time;
            }
        }
        found.all.sort_unstable();
        found.lost.sort_unstable();
        found
    }

    /// Whether they are too few to decide.
    fn are_few(&self) -> bool {
        (self.lost.len() as f64) < MIN_OCCASIONS
    }

    /// Thresholds above which losses are more frequent, the shortest first, each with twice its
    /// gain in log-likelihood, and this ratio of the hazards or more.
    fn rises(&self, least: u64, min_ratio: f64) -> Vec<(f64, DelayThreshold)> {
        let (all, lost) = (self.all.len() as f64, self.lost.len() as f64);
        let flat = log_likelihood(lost, all);
        let mut rises = Vec::new();
        for edge in EDGES {
            let from = self.all[self.all.len() * edge / 1000];
            if from < least {
                continue;
            }
            let below = self.all.partition_point(|one| *one < from) as f64;
            let lost_below = self.lost.partition_point(|one| *one < from) as f64;
            let (above, lost_above) = (all - below, lost - lost_below);
            let split = log_likelihood(lost_below, below) + log_likelihood(lost_above, above);
            // Adds half a loss below: a small hazard may have produced no loss by chance.
            let hazard_below = (lost_below + 0.5) / (below + 1.0);
            let hazard_above = lost_above / above.max(1.0);
            if hazard_above >= min_ratio * lost_below / below.max(1.0) {
                let from = Duration::from_nanos(from);
                let likelihood = (1.0 - hazard_below / hazard_above).max(0.0);
                let standing = DelayThreshold {
                    from,
                    least: from,
                    likelihood,
                };
                rises.push((2.0 * (split - flat), standing));
            }
        }
        rises
    }

    /// The best threshold with this ratio of the hazards and this gain, or more.
    fn threshold(&self, least: u64, min_ratio: f64, min_gain: f64) -> Option<DelayThreshold> {
        let rises = self.rises(least, min_ratio);
        let best = rises.iter().max_by(|one, other| one.0.total_cmp(&other.0));
        let (most, standing) = best.filter(|(most, _)| *most > min_gain)?;
        let mut possible = rises.iter().filter(|(gain, _)| gain + EQUAL_GAIN >= *most);
        let least = possible.next().map_or(standing.from, |(_, one)| one.from);
        Some(DelayThreshold { least, ..*standing })
    }
}

/// Minimum delay of a queue, if a packet takes `packet`.
pub(super) fn least(packet: Duration) -> Duration {
    MIN_DELAY.max(packet * MIN_PACKETS_PERCENT / 100)
}

/// Dependence of the losses in `sent` on `met` values, delays in nanoseconds or bytes of a queue,
/// for the transmissions that count. Values below `least` are not a queue.
pub(super) fn dependence(
    sent: &[Sent],
    met: &[u64],
    round_trip: Duration,
    least: u64,
    counts: impl Fn(usize) -> bool,
) -> Dependence {
    let met = Occasions::of(sent, met, round_trip, counts);
    if met.are_few() {
        return Dependence::NotShown;
    }
    if let Some(standing) = met.threshold(least, MIN_RATIO, MIN_GAIN) {
        return Dependence::Above(standing);
    }
    // A queue of one packet: PIE drops no packet that meets less than two (RFC 8033 §4.1).
    met.threshold(least * 2 / 3, OPEN_RATIO, OPEN_GAIN)
        .map_or(Dependence::Flat, Dependence::Open)
}

/// Twice the gain in log-likelihood of the best threshold; zero if there are too few loss
/// occasions. Arguments as in `dependence`.
pub(super) fn gain(
    sent: &[Sent],
    met: &[u64],
    round_trip: Duration,
    least: u64,
    counts: impl Fn(usize) -> bool,
) -> Option<f64> {
    let met = Occasions::of(sent, met, round_trip, counts);
    let gains = || {
        met.rises(least, MIN_RATIO)
            .into_iter()
            .map(|(gain, _)| gain)
    };
    (!met.are_few()).then(|| gains().fold(0.0, f64::max))
}

impl DelayThreshold {
    /// Whether a loss above the delay is almost certainly the queue's.
    pub(super) fn is_sure(&self) -> bool {
        self.likelihood >= SURE
    }
}

/// Whether a queue was not full when it dropped: other packets passed a longer queue, which a full
/// queue does not allow. `met` are lengths in a unit in which a packet takes `packet`.
pub(super) fn is_outlasted(
    sent: &[Sent],
    met: &[u64],
    packet: u64,
    is_drop: impl Fn(usize) -> bool,
) -> bool {
    let firsts = || (0..sent.len()).filter(|at| sent[*at].attempt == 0);
    let mut dropped: Vec<u64> = firsts()
        .filter(|at| sent[*at].is_lost && is_drop(*at))
        .map(|at| met[at])
        .collect();
    if dropped.is_empty() {
        return false;
    }
    let middle = dropped.len() / 2;
    let (_, median, _) = dropped.select_nth_unstable(middle);
    let blur = BLUR_PACKETS * packet + *median / BLUR_SHARE;
    let passed = |from: u64| {
        let passes = |at: &usize| !sent[*at].is_lost && met[*at] > from;
        firsts().filter(passes).count()
    };
    let beyond = passed(*median + blur);
    let as_long = passed(median.saturating_sub(blur));
    let far = passed(2 * *median + blur);
    beyond >= MIN_BEYOND
        && (100 * beyond > BEYOND_PERCENT * as_long
            || 1000 * far > FAR_BEYOND_THOUSANDTHS * sent.len())
}

/// Log-likelihood of `lost` of `all`, with the hazard estimated from them.
fn log_likelihood(lost: f64, all: f64) -> f64 {
    let part = |count: f64| {
        if count > 0.0 {
            count * libm::log(count / all)
        } else {
            0.0
        }
    };
    part(lost) + part(all - lost)
}

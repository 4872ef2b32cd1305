//! A queue that looks after its own delay: it drops above some delay and never below, long before
//! it is full (CoDel, RFC 8289; PIE, RFC 8033). The radio loses at any delay.

use airtcp_units::{Duration, Instant};

use super::findings::Sent;

/// Fewer occasions of loss show nothing.
const MIN_OCCASIONS: f64 = 5.0;
/// Thresholds that are tried, in thousandths of the transmissions below: finer at the top, where a
/// queue that looks after its delay seldom is.
const EDGES: [usize; 23] = [
    50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850, 900, 950,
    970, 980, 990, 995,
];
/// Twice the gain in log-likelihood that a threshold has to bring: one in ten thousand of flat
/// hazards brings as much at a given edge (χ² with one degree of freedom), and there are 23.
const MIN_GAIN: f64 = 15.1;
/// A threshold with twice the log-likelihood less by this is as possible (χ², 95 %).
const EQUAL_GAIN: f64 = 3.84;
/// Times that the hazard above has to be that below.
const MIN_RATIO: f64 = 5.0;
/// A shorter delay, or one of fewer packets, is that of the hosts or of a packet's own sending.
const MIN_DELAY: Duration = Duration::from_millis(2);
const MIN_PACKETS_PERCENT: u64 = 150;
/// A queue's length is known to this many packets and this share of it.
const BLUR_PACKETS: u64 = 3;
const BLUR_SHARE: u64 = 10;
/// Fewer packets that passed a longer queue may have been measured wrong.
const MIN_BEYOND: usize = 10;
/// What passed a longer queue than that which dropped, of all that passed one as long, in per cent;
/// or of all, in thousandths, one twice as long.
const BEYOND_PERCENT: usize = 20;
const FAR_BEYOND_THOUSANDTHS: usize = 5;
/// The chance that a loss above the threshold is the queue's, from which on it is called so.
const SURE: f64 = 0.8;

/// A delay above which a queue drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayThreshold {
    /// The delay.
    pub from: Duration,
    /// The lowest delay that the losses admit in its place.
    pub least: Duration,
    /// Chance that a loss above it is the queue's, not the radio's.
    pub likelihood: f64,
}

/// What losses tell of delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Dependence {
    /// They come at any delay.
    Flat,
    /// They come above a delay.
    Above(DelayThreshold),
    /// They are too few to tell.
    NotShown,
}

/// An occasion of loss: losses within a round trip of it are the same one's.
struct Occasions {
    /// What transmissions met, in order.
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

    /// Whether they are too few to tell.
    fn are_few(&self) -> bool {
        (self.lost.len() as f64) < MIN_OCCASIONS
    }

    /// Thresholds above which losses are more frequent, the shortest first, each with twice the
    /// gain in log-likelihood that it brings.
    fn rises(&self, least: u64) -> Vec<(f64, DelayThreshold)> {
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
            // Half a loss more below is what a chance that is not zero may have missed.
            let hazard_below = (lost_below + 0.5) / (below + 1.0);
            let hazard_above = lost_above / above.max(1.0);
            if hazard_above >= MIN_RATIO * lost_below / below.max(1.0) {
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
}

/// The shortest delay that is a queue's, where a packet takes `packet`.
pub(super) fn least(packet: Duration) -> Duration {
    MIN_DELAY.max(packet * MIN_PACKETS_PERCENT / 100)
}

/// How the losses of `sent` depend on what they met, delays in nanoseconds or bytes of a queue, of
/// those that count. Less than `least` is no queue.
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
    let rises = met.rises(least);
    let best = rises.iter().max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((most, standing)) = best.filter(|(most, _)| *most > MIN_GAIN) else {
        return Dependence::Flat;
    };
    let mut possible = rises.iter().filter(|(gain, _)| gain + EQUAL_GAIN >= *most);
    let least = possible.next().map_or(standing.from, |(_, one)| one.from);
    Dependence::Above(DelayThreshold { least, ..*standing })
}

/// Twice the gain in log-likelihood that the best threshold brings; none where the occasions of
/// loss are too few. Arguments are those of `dependence`.
pub(super) fn gain(
    sent: &[Sent],
    met: &[u64],
    round_trip: Duration,
    least: u64,
    counts: impl Fn(usize) -> bool,
) -> Option<f64> {
    let met = Occasions::of(sent, met, round_trip, counts);
    let gains = || met.rises(least).into_iter().map(|(gain, _)| gain);
    (!met.are_few()).then(|| gains().fold(0.0, f64::max))
}

impl DelayThreshold {
    /// Whether a loss above the delay is more likely than not the queue's, and by far.
    pub(super) fn is_sure(&self) -> bool {
        self.likelihood >= SURE
    }
}

/// Whether a queue was not full when it dropped: others passed that met a longer one, which a full
/// queue lets nobody. `met` are lengths in a unit of which a packet takes `packet`.
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

/// Of `lost` of `all`, at their own hazard.
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

//! A queue that looks after its own delay: it drops above some delay and never below, long before
//! it is full (CoDel, RFC 8289; PIE, RFC 8033). The radio loses at any delay.

use airtcp_units::{Duration, Instant};

use super::findings::Sent;

/// Fewer occasions of loss show nothing.
const LEAST_OCCASIONS: f64 = 5.0;
/// Thresholds that are tried, as shares of the transmissions below.
const EDGES: usize = 19;
/// Twice the gain in log-likelihood that a threshold has to bring: one in ten thousand of flat
/// hazards brings as much at a given edge (χ² with one degree of freedom), and there are 19.
const LEAST_GAIN: f64 = 15.1;
/// Times that the hazard above has to be that below.
const LEAST_RATIO: f64 = 5.0;
/// Losses of a full queue meet the same delay; those of one that looks after its delay vary by more
/// than this share of their median, from one in ten to nine in ten.
const LEAST_SPREAD: f64 = 0.15;
/// A shorter delay, or one of fewer packets, is that of the hosts or of a packet's own sending.
const LEAST_DELAY: Duration = Duration::from_millis(2);
const LEAST_PACKETS_PERCENT: u64 = 150;
/// Of fewer occasions the spread does not show.
const LEAST_SPREAD_OCCASIONS: usize = 4;
/// How well a queue is known, in packets.
const LEAST_SPREAD_PACKETS: u64 = 3;
/// The longest queue is this quantile, since a few measurements are wrong.
const LONGEST: f64 = 0.995;
/// The chance that a loss above the threshold is the queue's, from which on it is called so.
const SURE: f64 = 0.8;

/// A delay above which a queue drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The delay.
    pub from: Duration,
    /// Chance that a loss above it is the queue's, not the radio's.
    pub likelihood: f64,
}

/// What losses tell of delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Dependence {
    /// They come at any delay.
    Flat,
    /// They come above a delay, at various ones.
    Above(Standing),
    /// They come above a delay, all at nearly the same: the queue was full.
    AtFull(Standing),
    /// They are too few to tell.
    NotShown,
}

/// An occasion of loss: losses within a round trip of it are the same one's.
struct Occasions {
    /// Delays of transmissions, in order.
    delays: Vec<u64>,
    lost: Vec<u64>,
}

impl Occasions {
    fn of(
        sent: &[Sent],
        delays: &[Duration],
        round_trip: Duration,
        counts: impl Fn(usize) -> bool,
    ) -> Self {
        let mut met = Self {
            delays: Vec::with_capacity(sent.len()),
            lost: Vec::new(),
        };
        let mut last = Instant::ZERO;
        for (at, (packet, delay)) in sent.iter().zip(delays).enumerate() {
            if packet.attempt > 0 || !counts(at) {
                continue;
            }
            met.delays.push(delay.as_nanos());
            if packet.is_lost && (packet.time >= last + round_trip || met.lost.is_empty()) {
                met.lost.push(delay.as_nanos());
                last = packet.time;
            }
        }
        met.delays.sort_unstable();
        met.lost.sort_unstable();
        met
    }
}

/// How the losses of `sent` depend on the delay that they met, of those that count.
pub(super) fn dependence(
    sent: &[Sent],
    delays: &[Duration],
    round_trip: Duration,
    packet: Duration,
    counts: impl Fn(usize) -> bool,
) -> Dependence {
    let least = LEAST_DELAY.max(packet * LEAST_PACKETS_PERCENT / 100);
    let met = Occasions::of(sent, delays, round_trip, counts);
    let (all, lost) = (met.delays.len() as f64, met.lost.len() as f64);
    if lost < LEAST_OCCASIONS {
        return Dependence::NotShown;
    }
    let flat = log_likelihood(lost, all);
    let mut most = LEAST_GAIN;
    let mut found = Dependence::Flat;
    for edge in 1..=EDGES {
        let from = met.delays[met.delays.len() * edge / (EDGES + 1)];
        if from < least.as_nanos() {
            continue;
        }
        let below = met.delays.partition_point(|delay| *delay < from) as f64;
        let lost_below = met.lost.partition_point(|delay| *delay < from) as f64;
        let (above, lost_above) = (all - below, lost - lost_below);
        let split = log_likelihood(lost_below, below) + log_likelihood(lost_above, above);
        // Half a loss more below is what a chance that is not zero may have missed.
        let hazard_below = (lost_below + 0.5) / (below + 1.0);
        let hazard_above = lost_above / above.max(1.0);
        let gain = 2.0 * (split - flat);
        if gain > most && hazard_above >= LEAST_RATIO * lost_below / below.max(1.0) {
            most = gain;
            found = Dependence::Above(Standing {
                from: Duration::from_nanos(from),
                likelihood: (1.0 - hazard_below / hazard_above).max(0.0),
            });
        }
    }
    match found {
        Dependence::Above(standing) if !is_spread(&met.lost) => Dependence::AtFull(standing),
        found => found,
    }
}

impl Standing {
    /// Whether a loss above the delay is more likely than not the queue's, and by far.
    pub(super) fn is_sure(&self) -> bool {
        self.likelihood >= SURE
    }
}

/// The delay above which those of `sent` were lost that a full queue is thought to have dropped, if
/// that queue was not full: it held much more at other times, or what they met varies. Both the
/// delay and the bytes have to say so, since a rate that varies, or others that share the queue, let
/// one of them vary.
pub(super) fn varying(
    sent: &[Sent],
    delays: &[Duration],
    bytes: &[u64],
    (round_trip, packet): (Duration, Duration),
    is_full: impl Fn(usize) -> bool,
) -> Option<Duration> {
    let firsts = || (0..sent.len()).filter(|at| sent[*at].attempt == 0);
    let mut lost: Vec<usize> = Vec::new();
    for at in firsts().filter(|at| sent[*at].is_lost && is_full(*at)) {
        let last = lost.last().map(|last| sent[*last].time);
        if last.is_none_or(|last| sent[at].time >= last + round_trip) {
            lost.push(at);
        }
    }
    if lost.len() < LEAST_SPREAD_OCCASIONS {
        return None;
    }
    let whole = sent.iter().map(|one| u64::from(one.ip_bytes)).max()?;
    let delay = |at: usize| delays[at].as_nanos();
    let own = |at: usize| bytes[at];
    let vary = is_not_one(&lost, firsts(), delay, packet.as_nanos())
        && is_not_one(&lost, firsts(), own, whole);
    let mut met: Vec<u64> = lost.iter().map(|at| delay(*at)).collect();
    met.sort_unstable();
    vary.then(|| Duration::from_nanos(met[met.len() / 10]))
}

/// Whether what `lost` met is not one length of a full queue, in a unit of which a packet takes
/// `packet`.
fn is_not_one(
    lost: &[usize],
    all: impl Iterator<Item = usize>,
    met: impl Fn(usize) -> u64,
    packet: u64,
) -> bool {
    let mut at_losses: Vec<u64> = lost.iter().map(|at| met(*at)).collect();
    at_losses.sort_unstable();
    let mut of_all: Vec<u64> = all.map(&met).collect();
    of_all.sort_unstable();
    let at = |values: &[u64], share: f64| values[((values.len() - 1) as f64 * share) as usize];
    let spread = at(&at_losses, 0.9) - at(&at_losses, 0.1);
    let is_wide = is_spread(&at_losses) && spread > LEAST_SPREAD_PACKETS * packet;
    let median = at(&at_losses, 0.5);
    let longest = at(&of_all, LONGEST);
    is_wide || longest > 2 * median && longest > median + LEAST_SPREAD_PACKETS * packet
}

fn is_spread(lost: &[u64]) -> bool {
    let at = |share: f64| lost[((lost.len() - 1) as f64 * share) as usize] as f64;
    at(0.9) - at(0.1) > LEAST_SPREAD * at(0.5)
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

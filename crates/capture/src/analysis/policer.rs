//! Detects a policer: losses begin when the delivered bytes exceed rate × time + burst, without
//! queueing (Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016, §3).

use airtcp_units::{Duration, Instant};

use super::findings::Sent;

/// Minimum number of losses for a fit.
const MIN_LOSSES: usize = 8;
/// Maximum number of transmissions for candidates: a longer flow shows no more of its contract.
const MAX_TRIED: usize = 50_000;
/// Number of losses, spread over the flow, from which candidate rates are taken: the delivery until
/// a later loss over the time between the two.
const FROM_LOSSES: usize = 24;
/// Minimum times between those two losses, in seconds.
const SPANS_S: [f64; 3] = [1.0, 4.0, 12.0];
/// Number of refinements of the best candidate.
const REFINED: usize = 3;
/// Minimum share of the bucket that stayed empty between two losses for it to count as never full.
const NEVER_FULL: f64 = 0.1;
/// Number of first losses from which the burst is estimated: later the error of the rate
/// accumulates.
const FIRST_LOSSES: usize = 64;
/// Maximum fill of the bucket at a loss, in packets: the resolution of bytes and times.
const NEAR_PACKETS: f64 = 2.0;
/// Minimum gain in log-likelihood of two hazards, with an empty bucket and with tokens, over a
/// single one: far beyond the gain of the best rate from random losses.
const MIN_GAIN: f64 = 25.0;
/// Minimum hazard of loss with an empty bucket, and its minimum ratio to that with tokens.
const MIN_HAZARD: f64 = 0.05;
const MIN_RATIO: f64 = 10.0;
/// Minimum share of the losses that met an empty bucket: bursts of a radio's losses are no
/// independent draws, and some bucket fits one of them.
const MIN_EXPLAINED: f64 = 0.25;
/// Minimum burst; a smaller one cannot be distinguished from a queue of as many packets.
const MIN_BURST_PACKETS: f64 = 4.0;
/// Maximum delay of losses, as a share of burst / rate, the delay in a queue of that size; larger
/// for a short queue, since hosts blur its delay.
const MAX_DELAYED: f64 = 0.1;
const MAX_DELAYED_SHORT: f64 = 0.5;
const BLUR_S: f64 = 0.002;

/// A policer's contract, inferred from its losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policer {
    /// Token rate, in bits of IP packets a second.
    pub rate_bps: f64,
    /// Its burst, in bytes.
    pub burst_bytes: f64,
    /// Share of the losses that met an empty bucket.
    pub explained: f64,
    /// Gain in log-likelihood of the bucket over a single hazard.
    pub gain: f64,
}

impl Policer {
    /// The policer that explains the losses of `sent`, if any, and for each transmission whether it
    /// met an empty bucket. `delays` are the transmissions' delays beyond the shortest round trip.
    pub(super) fn of(sent: &[Sent], delays: &[Duration]) -> Option<(Self, Vec<bool>)> {
        let lost = sent.iter().filter(|packet| packet.is_lost).count();
        if lost < MIN_LOSSES {
            return None;
        }
        let packet = f64::from(sent.iter().map(|one| one.ip_bytes).max().unwrap_or(0));
        let tried = &sent[..sent.len().min(MAX_TRIED)];
        let rough = best(tried, packet, candidates(tried).into_iter())?;
        let mut found = rough;
        for _ in 0..REFINED {
            let refined = found.rate_while_empty(tried).into_iter();
            found = best(tried, packet, refined).unwrap_or(found);
        }
        found.checked(sent, delays)
    }
}

/// Candidate rates: a bucket that was empty at two losses passed its rate between them.
fn candidates(sent: &[Sent]) -> Vec<f64> {
    let mut passed = 0_u64;
    let mut losses: Vec<(f64, u64)> = Vec::new();
    let begin = sent.first().map_or(Instant::ZERO, |packet| packet.time);
    for packet in sent {
        if packet.is_lost {
            losses.push(((packet.time - begin).as_secs_f64(), passed));
        } else {
            passed += u64::from(packet.ip_bytes);
        }
    }
    let mut rates = Vec::new();
    let mut add = |from: (f64, u64), to: (f64, u64)| {
        if to.0 > from.0 && to.1 > from.1 {
            rates.push((to.1 - from.1) as f64 * 8.0 / (to.0 - from.0));
        }
    };
    if let (Some(first), Some(last)) = (losses.first(), losses.last()) {
        add(*first, *last);
    }
    for from in losses.iter().step_by((losses.len() / FROM_LOSSES).max(1)) {
        for span in SPANS_S {
            let later = losses.partition_point(|one| one.0 < from.0 + span);
            if let Some(to) = losses.get(later) {
                add(*from, *to);
            }
        }
    }
    rates
}

/// A token bucket, simulated along the transmissions.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    rate_bps: f64,
    burst: f64,
    /// Maximum tokens left, beyond the packet itself, for a loss to be the bucket's.
    near: f64,
}

impl Bucket {
    /// Calls `each` for every transmission with its index, the bytes taken with it, and whether it
    /// met an empty bucket.
    ///
    /// A loss at an empty bucket means that there were no tokens for a packet, and a delivery that
    /// there were: an error of the rate accumulates between two losses at most.
    fn follow(&self, sent: &[Sent], mut each: impl FnMut(usize, f64, bool)) {
        let mut taken: f64 = 0.0;
        let mut before = sent.first().map_or(Instant::ZERO, |packet| packet.time);
        for (at, packet) in sent.iter().enumerate() {
            let bytes = f64::from(packet.ip_bytes);
            taken = (taken - self.refilled(before, packet.time)).max(0.0);
            before = packet.time;
            let with = taken + bytes;
            let is_empty = with > self.burst - self.near;
            each(at, with, is_empty);
            if !packet.is_lost {
                taken = with.min(self.burst);
            } else if is_empty {
                taken = taken.max(self.burst - bytes);
            }
        }
    }

    /// The delivery between two losses at an empty bucket that was never full between them gives
    /// its rate: the mean over all such intervals. A sender with identical rounds, and a full
    /// bucket between them, does not show the rate otherwise.
    fn rate_while_empty(&self, sent: &[Sent]) -> Option<f64> {
        let (mut passed, mut seconds) = (0.0, 0.0);
        let (mut since, mut bytes): (Option<Instant>, f64) = (None, 0.0);
        self.follow(sent, |at, taken, is_empty| {
            let packet = &sent[at];
            let own = f64::from(packet.ip_bytes);
            if taken - own < NEVER_FULL * self.burst {
                since = None;
            }
            if !packet.is_lost {
                bytes += own;
            } else if is_empty {
                if let Some(before) = since {
                    passed += bytes;
                    seconds += (packet.time - before).as_secs_f64();
                }
                (since, bytes) = (Some(packet.time), 0.0);
            }
        });
        (seconds > 0.0 && passed > 0.0).then(|| passed * 8.0 / seconds)
    }

    fn refilled(&self, before: Instant, now: Instant) -> f64 {
        (now - before).as_secs_f64() * self.rate_bps / 8.0
    }

    /// Bytes taken at each of the first losses, including the lost packet, for a bucket of any
    /// size.
    fn at_first_losses(&self, sent: &[Sent]) -> Vec<f64> {
        let mut found = Vec::new();
        let mut taken: f64 = 0.0;
        let mut before = sent.first().map_or(Instant::ZERO, |packet| packet.time);
        for packet in sent {
            taken = (taken - self.refilled(before, packet.time)).max(0.0);
            before = packet.time;
            let with = taken + f64::from(packet.ip_bytes);
            if packet.is_lost {
                found.push(with);
                if found.len() >= FIRST_LOSSES {
                    break;
                }
            } else {
                taken = with;
            }
        }
        found
    }

    /// Transmissions and losses with tokens, and without.
    fn counts(&self, sent: &[Sent]) -> [[f64; 2]; 2] {
        let mut counts = [[0.0; 2]; 2];
        self.follow(sent, |at, _, is_empty| {
            let count = &mut counts[usize::from(is_empty)];
            count[0] += 1.0;
            count[1] += f64::from(u8::from(sent[at].is_lost));
        });
        counts
    }

    /// The policer, if losses meet an empty bucket, others do not, and there is no queueing.
    fn checked(&self, sent: &[Sent], delays: &[Duration]) -> Option<(Policer, Vec<bool>)> {
        let packet = self.near / NEAR_PACKETS;
        if self.burst < MIN_BURST_PACKETS * packet {
            return None;
        }
        let mut is_empty = vec![false; sent.len()];
        self.follow(sent, |at, _, empty| is_empty[at] = empty);
        let counts = self.counts(sent);
        let [with, without] = counts;
        let mut waited: Vec<Duration> = (0..sent.len())
            .filter(|at| sent[*at].is_lost && is_empty[*at])
            .map(|at| delays.get(at).copied().unwrap_or_default())
            .collect();
        if waited.len() < MIN_LOSSES {
            return None;
        }
        let middle = waited.len() / 2;
        let (_, delay, _) = waited.select_nth_unstable(middle);
        let depth_s = self.burst * 8.0 / self.rate_bps;
        let most_s = (MAX_DELAYED * depth_s).max(BLUR_S.min(MAX_DELAYED_SHORT * depth_s));
        let gain = gain(counts);
        let explained = without[1] / (with[1] + without[1]).max(1.0);
        let is_policer = gain >= MIN_GAIN
            && hazard(without) >= MIN_HAZARD
            && hazard(without) >= MIN_RATIO * hazard(with)
            && explained >= MIN_EXPLAINED
            && delay.as_secs_f64() <= most_s;
        is_policer.then_some((
            Policer {
                rate_bps: self.rate_bps,
                burst_bytes: self.burst,
                explained,
                gain,
            },
            is_empty,
        ))
    }
}

/// The bucket that explains the losses best, among several rates.
fn best(sent: &[Sent], packet: f64, rates: impl Iterator<Item = f64>) -> Option<Bucket> {
    let mut found: Option<(f64, Bucket)> = None;
    for rate_bps in rates {
        let deep = Bucket {
            rate_bps,
            burst: f64::INFINITY,
            near: NEAR_PACKETS * packet,
        };
        let levels = deep.at_first_losses(sent);
        let ends = [levels.first().copied(), densest(&levels, packet)];
        for burst in ends.into_iter().flatten() {
            let bucket = Bucket { burst, ..deep };
            let gain = gain(bucket.counts(sent));
            if found.as_ref().is_none_or(|(most, _)| gain > *most) {
                found = Some((gain, bucket));
            }
        }
    }
    found.map(|(_, bucket)| bucket)
}

/// The value with the most others within `width` above it.
fn densest(values: &[f64], width: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let within = |from: usize| sorted.partition_point(|one| *one <= sorted[from] + width) - from;
    let from = (0..sorted.len()).max_by_key(|from| (within(*from), sorted.len() - from))?;
    Some(sorted[from])
}

/// Log-likelihood gain of two hazards over one; zero if losses are rarer without tokens.
fn gain([with, without]: [[f64; 2]; 2]) -> f64 {
    if hazard(without) <= hazard(with) {
        return 0.0;
    }
    let whole = [with[0] + without[0], with[1] + without[1]];
    log_likelihood(with) + log_likelihood(without) - log_likelihood(whole)
}

/// Losses per transmission.
fn hazard(count: [f64; 2]) -> f64 {
    count[1] / count[0].max(1.0)
}

/// Log-likelihood with the hazard estimated for the part.
fn log_likelihood(count: [f64; 2]) -> f64 {
    let part = |some: f64| {
        if some > 0.0 {
            some * libm::log(some / count[0])
        } else {
            0.0
        }
    };
    part(count[1]) + part(count[0] - count[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tests::transmission;

    /// A sender that fills the bucket, slows down after losses and recovers; `drops` decides on
    /// losses, given the remaining tokens.
    fn transfer(drops: impl Fn(f64, usize) -> bool) -> Vec<Sent> {
        let mut sent = Vec::new();
        let (mut nanos, mut tokens, mut spacing) = (0_u64, 100_000.0_f64, 2_000_000_u64);
        let mut rounds = 0_u64;
        for number in 0..20_000 {
            nanos += spacing;
            tokens = (tokens + spacing as f64 * 5e6 / 8e9).min(100_000.0);
            let is_lost = drops(tokens, number);
            if !is_lost {
                tokens = (tokens - 1500.0).max(0.0);
            }
            rounds += u64::from(is_lost);
            spacing = if is_lost {
                2_600_000 + rounds * 7919 % 13 * 150_000
            } else {
                spacing.saturating_sub(4_000).max(1_000_000)
            };
            sent.push(Sent {
                time: Instant::from_nanos(nanos),
                is_lost,
                ..transmission()
            });
        }
        sent
    }

    #[test]
    fn rate_and_burst_are_those_of_the_bucket() {
        let sent = transfer(|tokens, _| tokens < 1500.0);
        let delays = vec![Duration::ZERO; sent.len()];
        let (policer, is_empty) = Policer::of(&sent, &delays).unwrap();
        assert!((policer.rate_bps / 5e6 - 1.0).abs() < 0.02, "{policer:?}");
        assert!((policer.burst_bytes / 1e5 - 1.0).abs() < 0.1, "{policer:?}");
        let told = sent
            .iter()
            .zip(&is_empty)
            .filter(|(one, empty)| one.is_lost && **empty);
        let lost = sent.iter().filter(|one| one.is_lost).count();
        assert!(told.count() * 100 >= lost * 95);
    }

    /// The same losses, but dropped packets had waited as long as the bucket is deep: a queue.
    #[test]
    fn what_waited_was_in_a_queue() {
        let sent = transfer(|tokens, _| tokens < 1500.0);
        let delays = vec![Duration::from_millis(150); sent.len()];
        assert!(Policer::of(&sent, &delays).is_none());
    }

    #[test]
    fn losses_at_random_are_no_policer() {
        let sent = transfer(|_, number| number.wrapping_mul(2_654_435_761) % 97 == 0);
        let delays = vec![Duration::ZERO; sent.len()];
        assert!(Policer::of(&sent, &delays).is_none());
    }
}

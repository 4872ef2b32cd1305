//! A policer: losses that begin when the bytes delivered exceed rate × time + burst, while nothing
//! waits (Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016, §3).

use airtcp_units::{Duration, Instant};

use super::findings::Sent;

/// Fewer losses are not fitted.
const LEAST_LOSSES: usize = 8;
/// Number of candidate rates, in steps above the rate between the first loss and the last:
/// tokens that overflow while the sender is slow are not seen.
const STEPS: u32 = 200;
const STEP: f64 = 1.005;
const FINE_STEPS: u32 = 10;
const FINE_STEP: f64 = 0.001;
/// Losses meet a bucket this empty: in packets, and as a share of the burst.
const NEAR_PACKETS: f64 = 2.0;
const NEAR_SHARE: f64 = 0.08;
/// By how much the two hazards, with an empty bucket and with tokens, have to be likelier than one,
/// in natural logarithms: far beyond what the best of all rates gains from losses at random.
const LEAST_GAIN: f64 = 25.0;
/// Gains that differ by less are equal.
const EQUAL_GAIN: f64 = 1.0;
/// The hazard of loss with an empty bucket, and how many times it is that with tokens.
const LEAST_HAZARD: f64 = 0.02;
const LEAST_RATIO: f64 = 10.0;
/// A smaller burst cannot be told from a queue of as many packets.
const LEAST_BURST_PACKETS: f64 = 4.0;
/// A queue of that size would have delayed what it dropped by burst / rate: losses saw no more
/// than this share of it.
const MOST_DELAYED: f64 = 0.3;

/// A policer's contract, as its losses show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policer {
    /// Rate of its tokens, in bits of IP packets a second.
    pub rate_bps: f64,
    /// Its burst, in bytes.
    pub burst_bytes: f64,
    /// Share of the losses that met an empty bucket.
    pub explained: f64,
}

impl Policer {
    /// The policer behind the losses of `sent`, if one explains them, and for each transmission
    /// whether it met an empty bucket. `delays` are those that transmissions met, beyond the
    /// shortest round trip.
    pub(super) fn of(sent: &[Sent], delays: &[Duration]) -> Option<(Self, Vec<bool>)> {
        let lost: Vec<usize> = (0..sent.len()).filter(|at| sent[*at].is_lost).collect();
        let (first, last) = (*lost.first()?, *lost.last()?);
        let seconds = (sent[last].time - sent[first].time).as_secs_f64();
        if lost.len() < LEAST_LOSSES || seconds <= 0.0 {
            return None;
        }
        let passed: u64 = sent[first..last]
            .iter()
            .filter(|packet| !packet.is_lost)
            .map(|packet| u64::from(packet.ip_bytes))
            .sum();
        let least_bps = passed as f64 * 8.0 / seconds;
        let packet = f64::from(sent.iter().map(|one| one.ip_bytes).max().unwrap_or(0));
        let steps = (0..STEPS).scan(least_bps / STEP, |bps, _| {
            let this = *bps;
            *bps *= STEP;
            Some(this)
        });
        let rough = best(sent, packet, steps)?;
        let middle = f64::from(FINE_STEPS / 2);
        let fine = (0..=FINE_STEPS)
            .map(|step| rough.rate_bps * (1.0 + FINE_STEP * (f64::from(step) - middle)));
        best(sent, packet, fine)?.checked(sent, delays, packet)
    }
}

/// How full the bucket would have to be for all that passed, at some rate.
struct Filled {
    rate_bps: f64,
    /// The most that was ever taken of it.
    burst: f64,
    /// Taken when each transmission came, itself included.
    taken: Vec<f64>,
}

impl Filled {
    fn of(sent: &[Sent], rate_bps: f64) -> Self {
        let mut taken = Vec::with_capacity(sent.len());
        let (mut level, mut burst): (f64, f64) = (0.0, 0.0);
        let mut before = sent.first().map_or(Instant::ZERO, |packet| packet.time);
        for packet in sent {
            let since = (packet.time - before).as_secs_f64();
            before = packet.time;
            level = (level - since * rate_bps / 8.0).max(0.0);
            let with = level + f64::from(packet.ip_bytes);
            taken.push(with);
            if !packet.is_lost {
                level = with;
                burst = burst.max(level);
            }
        }
        Self {
            rate_bps,
            burst,
            taken,
        }
    }

    /// Whether so little was left when a transmission came, itself included, that it may be lost.
    fn is_empty(&self, taken: f64, packet: f64) -> bool {
        taken + (NEAR_PACKETS * packet).max(NEAR_SHARE * self.burst) >= self.burst
    }

    /// Transmissions and losses that met tokens, and that met none.
    fn counts(&self, sent: &[Sent], packet: f64) -> [[f64; 2]; 2] {
        let mut counts = [[0.0; 2]; 2];
        for (taken, one) in self.taken.iter().zip(sent) {
            let count = &mut counts[usize::from(self.is_empty(*taken, packet))];
            count[0] += 1.0;
            count[1] += f64::from(u8::from(one.is_lost));
        }
        counts
    }

    /// By how much two hazards are likelier than one; nothing where tokens help losses.
    fn gain(&self, sent: &[Sent], packet: f64) -> f64 {
        let [with, without] = self.counts(sent, packet);
        if hazard(without) <= hazard(with) {
            return 0.0;
        }
        let whole = [with[0] + without[0], with[1] + without[1]];
        log_likelihood(with) + log_likelihood(without) - log_likelihood(whole)
    }

    /// The policer, if losses meet an empty bucket, others do not, and nothing waits.
    fn checked(
        &self,
        sent: &[Sent],
        delays: &[Duration],
        packet: f64,
    ) -> Option<(Policer, Vec<bool>)> {
        if self.burst < LEAST_BURST_PACKETS * packet {
            return None;
        }
        let is_empty: Vec<bool> = self
            .taken
            .iter()
            .map(|taken| self.is_empty(*taken, packet))
            .collect();
        let [with, without] = self.counts(sent, packet);
        let mut waited: Vec<Duration> = (0..sent.len())
            .filter(|at| sent[*at].is_lost && is_empty[*at])
            .map(|at| delays.get(at).copied().unwrap_or_default())
            .collect();
        if waited.len() < LEAST_LOSSES {
            return None;
        }
        let middle = waited.len() / 2;
        let (_, delay, _) = waited.select_nth_unstable(middle);
        let explained = without[1] / (with[1] + without[1]).max(1.0);
        let is_policer = self.gain(sent, packet) >= LEAST_GAIN
            && hazard(without) >= LEAST_HAZARD
            && hazard(without) >= LEAST_RATIO * hazard(with)
            && delay.as_secs_f64() <= MOST_DELAYED * self.burst * 8.0 / self.rate_bps;
        is_policer.then_some((
            Policer {
                rate_bps: self.rate_bps,
                burst_bytes: self.burst,
                explained,
            },
            is_empty,
        ))
    }
}

/// Of some rates, in rising order, that whose empty bucket explains the losses best. Of nearly equal
/// ones the lowest: a sender whose every round is alike does not tell them apart.
fn best(sent: &[Sent], packet: f64, rates: impl Iterator<Item = f64>) -> Option<Filled> {
    let mut found: Option<(f64, Filled)> = None;
    for rate_bps in rates {
        let filled = Filled::of(sent, rate_bps);
        let gain = filled.gain(sent, packet);
        if found
            .as_ref()
            .is_none_or(|(most, _)| gain > most + EQUAL_GAIN)
        {
            found = Some((gain, filled));
        }
    }
    found.map(|(_, filled)| filled)
}

/// Losses a transmission.
fn hazard(count: [f64; 2]) -> f64 {
    count[1] / count[0].max(1.0)
}

/// Of losses that all have the hazard of their part.
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

    /// A sender that fills the bucket, is slowed down by losses and comes back; `drops` says what is
    /// lost, given the tokens that are left.
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
                ..packet()
            });
        }
        sent
    }

    fn packet() -> Sent {
        Sent {
            time: Instant::ZERO,
            number: 0,
            index: 0,
            start: 0,
            end: 1448,
            ip_bytes: 1500,
            attempt: 0,
            in_flight: 0,
            acknowledged: Instant::FAR_FUTURE,
            is_measured: false,
            is_lost: false,
            lost_to: None,
            radio_retry: false,
            is_marked: false,
            is_short: false,
            is_refused: false,
            meets_full_queue: false,
            timestamp: None,
            identification: None,
            previous: None,
            repeat: None,
        }
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

    /// The same losses where what was dropped had waited as long as the bucket is deep: a queue.
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

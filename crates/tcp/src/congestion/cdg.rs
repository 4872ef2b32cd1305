//! CAIA Delay-Gradient (Hayes & Armitage, "Revisiting TCP congestion control using delay
//! gradients", IFIP Networking 2011), as Linux has it (`net/ipv4/tcp_cdg.c`): the window backs off
//! with a probability that grows with the increase of round trips, and a loss costs no more than
//! Reno's window would have lost to it, or nothing where the queue is not full (`cdg_tolerance`).

use airtcp_units::Instant;

use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing, reno::Reno};
use crate::config::Config;

/// Rounds over which gradients are summed (`window`).
const ROUNDS: usize = 8;
/// Probability of a back-off: 1 − e^(−42·10⁻⁶ g) at a sum of gradients of g µs (`backoff_factor`).
const BACKOFF_FACTOR: f64 = 42e-6;
/// Share that a back-off leaves, in 1024ths: √½ (`backoff_beta`).
const BACKOFF_LEAVES: u64 = 724;
/// Back-offs without effect after which others must be competing (`use_ineff`), and the fall of
/// round trips, in microseconds, that counts as an effect.
const INEFFECTUAL: u32 = 5;
const EFFECT_US: i64 = -32;
/// Sums of gradients below half of this are no change (`use_tolerance`).
const TOLERANCE_US: i64 = 64;
/// HyStart as of here: the gap that ends a train, the shortest that counts, and samples needed.
const TRAIN_GAP_US: u64 = 3000;
const MIN_US: i64 = 125;
const SAMPLES: u32 = 8;
/// Most acknowledgments in a row that are taken for delayed ones.
const DELAYED_ACKS: u32 = 5;

/// The least and the greatest round trip of a round, in microseconds; zero before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extremes {
    min: i64,
    max: i64,
}

impl Extremes {
    const fn is_empty(self) -> bool {
        self.min == 0 && self.max == 0
    }
}

/// What the gradients say of the bottleneck's queue (§4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    Unknown,
    Full,
    NotFull,
}

/// The gradients of round trips, and the window that Reno would have.
#[derive(Clone, Debug)]
pub struct Cdg {
    reno: Reno,
    tolerates: bool,
    round: Extremes,
    last_round: Extremes,
    gradients: [Extremes; ROUNDS],
    sum: Extremes,
    /// The oldest gradient, and whether all of them are set.
    oldest: usize,
    is_filled: bool,
    queue: Queue,
    round_ends: u64,
    una: u64,
    nxt: u64,
    delayed_acks: u32,
    ineffectual: u32,
    /// Whether a back-off is demanded of the sender, or under way there.
    demands: bool,
    is_reducing: bool,
    is_recovering: bool,
    /// The window without back-offs, in bytes, and the window when last seen.
    shadow: u64,
    seen: u64,
    /// Whether the window was the limit at the last acknowledgment that could let it grow.
    was_used: bool,
    train: Option<Train>,
    /// The least round trip of all in slow start, in microseconds, and samples of this round.
    least: i64,
    samples: u32,
}

/// A train of acknowledgments, in microseconds.
#[derive(Clone, Copy, Debug)]
struct Train {
    began_at: u64,
    last_at: u64,
}

impl Start for Cdg {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self {
            reno: Reno::default(),
            tolerates: config.cdg_tolerance,
            round: Extremes::default(),
            last_round: Extremes::default(),
            gradients: [Extremes::default(); ROUNDS],
            sum: Extremes::default(),
            oldest: 0,
            is_filled: false,
            queue: Queue::Unknown,
            round_ends: 0,
            una: 0,
            nxt: 0,
            delayed_acks: 0,
            ineffectual: 0,
            demands: false,
            is_reducing: false,
            is_recovering: false,
            shadow: windows.cwnd,
            seen: windows.cwnd,
            was_used: true,
            train: None,
            least: 0,
            samples: 0,
        }
    }
}

/// A number from 0 to 1 that is the same for the same acknowledgment, where Linux draws one
/// (SplitMix64, Steele et al., OOPSLA 2014).
#[expect(clippy::cast_precision_loss, reason = "2^53 are enough")]
fn draw(now: Instant, nxt: u64) -> f64 {
    let mut bits = now.as_nanos() ^ nxt.rotate_left(32);
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

impl Cdg {
    /// Takes a round trip, unless a delayed acknowledgment may have lengthened it
    /// (`tcp_cdg_acked`). `acked`: segments that it acknowledges; `plain`: without SACKed ones.
    fn take_rtt(&mut self, rtt: i64, acked: u64, plain: bool) {
        if plain {
            if acked == 1 && self.delayed_acks > 0 {
                self.round.min = self.round.min.min(rtt);
                self.delayed_acks -= 1;
                return;
            }
            if acked > 1 && self.delayed_acks < DELAYED_ACKS {
                self.delayed_acks += 1;
            }
        }
        self.round.min = if self.round.min == 0 {
            rtt
        } else {
            self.round.min.min(rtt)
        };
        self.round.max = self.round.max.max(rtt);
    }

    /// Whether slow start ends: a train of acknowledgments is as long as half the least round trip,
    /// or round trips are an eighth longer (`tcp_cdg_hystart_update`).
    fn ends_slow_start(&mut self, now: Instant) -> bool {
        self.least = match (self.least, self.round.min) {
            (0, min) => min,
            (least, 0) => least,
            (least, min) => least.min(min),
        };
        if self.least == 0 {
            return false;
        }
        let now = now.as_nanos() / 1000;
        match &mut self.train {
            Some(train) => {
                if now < train.last_at + TRAIN_GAP_US {
                    train.last_at = now;
                    let half = (self.least / 2).max(MIN_US).unsigned_abs();
                    if now > train.began_at + half {
                        return true;
                    }
                }
            }
            None => {
                self.train = Some(Train {
                    began_at: now,
                    last_at: now,
                });
            }
        }
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.round.min > (self.least + self.least / 8).max(MIN_US)
    }

    /// The sum of gradients over the last rounds, in microseconds: of the least round trips where
    /// that is positive, otherwise of the greatest (`tcp_cdg_grad`).
    fn gradient(&mut self) -> i64 {
        let newest = Extremes {
            min: self.round.min - self.last_round.min,
            max: self.round.max - self.last_round.max,
        };
        let replaced = core::mem::replace(&mut self.gradients[self.oldest], newest);
        self.sum.min += newest.min - replaced.min;
        self.sum.max += newest.max - replaced.max;
        self.oldest = (self.oldest + 1) % ROUNDS;
        let Extremes { min, max } = self.sum;
        let mut gradient = if min > 0 { min } else { max };
        if !self.is_filled {
            if self.oldest == 0 {
                self.is_filled = true;
            } else {
                // As if the rounds that are missing had been like the others.
                gradient =
                    gradient * ROUNDS.cast_signed() as i64 / self.oldest.cast_signed() as i64;
            }
        }
        if min <= EFFECT_US || max <= EFFECT_US {
            self.ineffectual = 0;
        }
        if self.tolerates {
            self.infer_queue(min, max);
        }
        gradient
    }

    /// §4: the least round trips rise while the greatest do not: the queue is full; both rise, or
    /// the greatest fall: it is not.
    const fn infer_queue(&mut self, min: i64, max: i64) {
        let half = TOLERANCE_US / 2;
        if min >= half && max < half {
            self.queue = Queue::Full;
        } else if (min >= half && max >= half) || max <= -half {
            self.queue = Queue::NotFull;
        }
    }

    /// Whether to back off at this gradient (§3: 1 − e^(−g/G)), unless that has had no effect.
    #[expect(clippy::cast_precision_loss, reason = "microseconds")]
    fn backs_off(&mut self, gradient: i64, draw: f64) -> bool {
        if draw <= libm::exp(-(gradient as f64) * BACKOFF_FACTOR) {
            return false;
        }
        self.ineffectual += 1;
        self.ineffectual <= INEFFECTUAL
    }

    /// A reduction is over: the queue is unknown again (`CA_EVENT_COMPLETE_CWR`).
    const fn begin_anew(&mut self) {
        self.is_reducing = false;
        self.was_used = true;
        self.queue = Queue::Unknown;
        self.begin_round();
    }

    const fn begin_round(&mut self) {
        self.round_ends = self.nxt;
        self.last_round = self.round;
        self.round = Extremes { min: 0, max: 0 };
    }

    /// Ends a round at an acknowledgment; demands a reduction where round trips grow.
    fn end_round(&mut self, now: Instant, windows: &Windows) {
        let gradient = if self.last_round.is_empty() {
            0
        } else {
            self.gradient()
        };
        self.begin_round();
        self.train = None;
        self.samples = 0;
        if gradient > 0 && self.backs_off(gradient, draw(now, self.nxt)) {
            self.shadow = self.shadow.max(windows.cwnd);
            self.demands = true;
        }
    }
}

impl Rule for Cdg {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        self.demands = false;
        let advanced = ack.una - self.una;
        (self.una, self.nxt, self.seen) = (ack.una, ack.nxt, windows.cwnd);
        if let Some(rtt) = ack.rtt
            && let Ok(rtt) = i64::try_from(rtt.as_nanos() / 1000)
        {
            let plain = ack.repairing == Repairing::Nothing && advanced == ack.delivered;
            self.take_rtt(rtt.max(1), advanced.div_ceil(windows.mss), plain);
        }
        let was_recovering = self.is_recovering;
        self.is_recovering = ack.repairing == Repairing::FastRecovery;
        if was_recovering && !self.is_recovering {
            self.begin_anew();
        }
        if self.is_recovering || self.is_reducing || advanced == 0 {
            return;
        }
        if !core::mem::take(&mut self.was_used) {
            self.shadow = self.shadow.min(windows.cwnd);
            self.train = None;
        }
        if windows.in_slow_start() && self.ends_slow_start(ack.now) {
            windows.ssthresh = windows.cwnd;
        }
        if ack.una > self.round_ends && !self.round.is_empty() {
            self.end_round(ack.now, windows);
        }
        // After a timeout the window is not reduced once more (`tcp_enter_cwr`).
        self.demands &= ack.repairing == Repairing::Nothing;
    }

    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        self.reno.grow(acked, windows)
    }

    fn after_growth(&mut self, windows: &mut Windows) {
        self.was_used = true;
        self.shadow += windows.cwnd - self.seen.min(windows.cwnd);
        self.seen = windows.cwnd;
    }

    fn demands_reduction(&self) -> bool {
        self.demands
    }

    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        self.reno = Reno::default();
        if self.tolerates && self.queue == Queue::NotFull {
            return base / windows.mss * windows.mss;
        }
        self.shadow = (self.shadow / 2).min(windows.cwnd);
        let half = base / windows.mss / 2 * windows.mss;
        (self.shadow / windows.mss * windows.mss)
            .max(half)
            .max(2 * windows.mss)
    }

    fn threshold_for_mark(&mut self, base: u64, windows: &Windows) -> u64 {
        self.is_reducing = true;
        if !core::mem::take(&mut self.demands) {
            return self.threshold(base, windows);
        }
        self.reno = Reno::default();
        (base / windows.mss * BACKOFF_LEAVES / 1024).max(2) * windows.mss
    }

    /// The end of a fast recovery, however it ends, is seen at the next acknowledgment.
    fn on_reduction_over(&mut self, _windows: &mut Windows) {
        if !self.is_recovering {
            self.begin_anew();
        }
    }

    fn on_timeout(&mut self) {
        self.reno.on_timeout();
        self.is_reducing = false;
        self.demands = false;
    }

    /// Everything is forgotten (`CA_EVENT_CWND_RESTART`).
    fn on_restart(&mut self, windows: &Windows) {
        let (una, nxt) = (self.una, self.nxt);
        let tolerates = self.tolerates;
        *self = Self::start(&Config::default(), windows);
        (self.una, self.nxt, self.round_ends) = (una, nxt, nxt);
        self.tolerates = tolerates;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(segments: u64, tolerates: bool) -> (Cdg, Windows) {
        let windows = Windows {
            mss: MSS,
            cwnd: segments * MSS,
            ssthresh: MSS,
            max: u64::MAX,
        };
        let config = Config {
            cdg_tolerance: tolerates,
            ..Config::default()
        };
        (Cdg::start(&config, &windows), windows)
    }

    /// Ends a round whose round trips were from `min` to `max` µs, and returns the gradient.
    fn round(rule: &mut Cdg, min: i64, max: i64) -> i64 {
        rule.round = Extremes { min, max };
        let gradient = if rule.last_round.is_empty() {
            0
        } else {
            rule.gradient()
        };
        rule.begin_round();
        gradient
    }

    /// The sum of eight gradients is the newest round trip less the one of eight rounds ago; before
    /// that it is scaled up to eight.
    #[test]
    fn gradients_are_summed_over_eight_rounds() {
        let (mut rule, _) = at(100, false);
        assert_eq!(round(&mut rule, 10_000, 11_000), 0);
        assert_eq!(round(&mut rule, 10_100, 11_000), 800);
        assert_eq!(round(&mut rule, 10_200, 11_000), 800);
        for step in 3..=8 {
            round(&mut rule, 10_000 + 100 * step, 11_000);
        }
        assert_eq!(round(&mut rule, 10_900, 11_000), 800);
        assert_eq!(round(&mut rule, 10_100, 12_000), 1000, "of the greatest");
    }

    /// §3: P = 1 − e^(−g/G): at a sum of 42⁻¹ s x ln 2 = 16 504 µs one time in two. The fifth
    /// back-off in a row without effect is the last.
    #[test]
    fn a_back_off_is_drawn() {
        for (gradient, draw, expected) in [
            (16_504, 0.499, false),
            (16_504, 0.501, true),
            (1, 0.99, false),
            (1_000_000, 0.01, true),
        ] {
            let (mut rule, _) = at(100, false);
            assert_eq!(
                rule.backs_off(gradient, draw),
                expected,
                "{gradient}, {draw}"
            );
        }
        let (mut rule, _) = at(100, false);
        let backs_off = (0..7).map(|_| rule.backs_off(1_000_000, 0.5));
        let expected = [vec![true; 5], vec![false; 2]].concat();
        assert_eq!(backs_off.collect::<Vec<_>>(), expected);
        rule.last_round = Extremes {
            min: 9000,
            max: 9000,
        };
        round(&mut rule, 8900, 8900);
        assert!(rule.backs_off(1_000_000, 0.5), "round trips have fallen");
    }

    /// Draws are spread evenly, and the same for the same acknowledgment.
    #[test]
    fn draws_are_even() {
        let draws = (0..4000).map(|index| {
            let now = Instant::from_nanos(index * 1_200_000);
            assert!((draw(now, 1) - draw(now, 1)).abs() < f64::EPSILON);
            draw(now, index * MSS)
        });
        let mean = draws.sum::<f64>() / 4000.0;
        assert!((0.48..0.52).contains(&mean), "{mean}");
    }

    /// A back-off leaves √½; a loss after it half of the window that Reno would have, if that is
    /// larger than half of this one.
    #[test]
    fn a_loss_costs_what_reno_would_lose() {
        let (mut rule, mut windows) = at(100, false);
        rule.demands = true;
        rule.shadow = 100 * MSS;
        assert_eq!(rule.threshold_for_mark(100 * MSS, &windows), 70 * MSS);
        rule.begin_anew();
        windows.cwnd = 70 * MSS;
        assert_eq!(rule.threshold(70 * MSS, &windows), 50 * MSS);
        windows.cwnd = 50 * MSS;
        assert_eq!(rule.threshold(50 * MSS, &windows), 25 * MSS);
    }

    /// §4: round trips that rise altogether are of a queue that is not full, and its losses cost
    /// nothing; once only the least rise, it is full.
    #[test]
    fn a_loss_before_the_queue_is_full_is_tolerated() {
        let (mut rule, windows) = at(100, true);
        round(&mut rule, 10_000, 20_000);
        round(&mut rule, 10_100, 20_100);
        assert_eq!(rule.queue, Queue::NotFull);
        assert_eq!(rule.threshold(100 * MSS, &windows), 100 * MSS);
        round(&mut rule, 10_200, 20_000);
        assert_eq!(rule.queue, Queue::Full);
        rule.shadow = 0;
        assert_eq!(rule.threshold(100 * MSS, &windows), 50 * MSS);
    }

    /// Acknowledgments of one segment after ones of two are taken for delayed ones: they count
    /// only where they lower the minimum.
    #[test]
    fn delayed_acknowledgments_are_left_out() {
        let (mut rule, _) = at(100, false);
        rule.take_rtt(10_000, 2, true);
        rule.take_rtt(50_000, 1, true);
        assert_eq!(
            rule.round,
            Extremes {
                min: 10_000,
                max: 10_000
            }
        );
        rule.take_rtt(50_000, 1, true);
        assert_eq!(rule.round.max, 50_000);
    }
}

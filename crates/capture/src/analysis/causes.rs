//! Cause of each loss: a policer, a full queue, an AQM, or the radio.

use airtcp_units::{Duration, Instant};

use super::delay_threshold::{self, DelayThreshold, Dependence};
use super::findings::{Ack, Sent};
use super::hazard::Hazard;
use super::label::Cause;
use super::policer::Policer;
use super::rate::Path;
use super::two_rates::{Part, chance_of_so_few};

/// Minimum ratio and difference of the gain over the delay to that over the flow's bytes for a
/// shared queue; otherwise only the flow fills it.
const SHARED_RATIO: f64 = 1.25;
const SHARED_GAIN: f64 = 6.0;
/// The same over loss occasions, with gains that are twice those in log-likelihood.
const SHARED_GAIN_OF_OCCASIONS: f64 = 6.0;
/// Minimum percentage of the delay that the flow's bytes cause, for the queue to count as unshared.
const OWN_PERCENT: u128 = 80;
/// Maximum chance that a radio loses as few packets from an empty queue.
const CHANCE: f64 = 0.01;
/// Minimum queueing delay, together with that of three packets.
const SHORT_DELAY: Duration = Duration::from_millis(4);
const SHORT_PACKETS: u64 = 3;
/// Maximum ratio of the top to the bottom decile of a steady rate.
const STEADY_RATIO: f64 = 1.6;

/// Causes of a flow's losses, as far as its sender's view shows them.
#[derive(Clone, Debug, Default)]
pub(super) struct Causes {
    /// The hazard over the flow's bytes in the queue.
    pub hazard: Hazard,
    /// Whether the drops depend on a delay that the flow's bytes do not cause: the queue is shared.
    pub is_shared: bool,
    pub policer: Option<Policer>,
    pub standing: Option<DelayThreshold>,
    /// The delay of a full queue with an unknown length in bytes.
    full_from: Option<DelayThreshold>,
    /// The delay above which losses are more frequent, on too few occasions to classify them.
    open_from: Option<Duration>,
    by_delay: Hazard,
    /// For each transmission, whether it met a policer's empty bucket.
    is_policed: Vec<bool>,
    /// Whether it is undecided if the losses depend on the delay.
    is_open: bool,
    /// The delay from which on an AQM may drop at chance, where no loss below its threshold is
    /// shown to be the radio's.
    early_from: Option<Duration>,
    /// The flow's bytes in the queue, and the delay beyond the shortest round trip, met by each
    /// transmission.
    bytes: Vec<u64>,
    delays: Vec<Duration>,
    short_delay: Duration,
}

impl Causes {
    /// Finds the causes of the losses in `sent`; `told` selects transmissions with a known queue.
    pub fn of(sent: &[Sent], acks: &[Ack], path: &Path<'_>, told: impl Fn(usize) -> bool) -> Self {
        let bytes = path.queue_bytes();
        let delays = delays(sent, path);
        let packet = packet_time(sent, acks, path);
        let met: Vec<(u64, bool)> = (0..sent.len())
            .filter(|at| sent[*at].attempt == 0 && told(*at))
            .map(|at| (delays[at].as_nanos(), sent[at].is_lost))
            .collect();
        let mut causes = Self {
            hazard: Hazard::of(sent, &bytes, &told),
            by_delay: Hazard::of_delays(&met, packet.as_nanos()),
            short_delay: SHORT_DELAY.max(packet * SHORT_PACKETS),
            bytes,
            delays,
            ..Self::default()
        };
        // Any queue drops traffic beyond its rate and length, as a bucket does: the bucket has to
        // explain more than the queue length.
        let gain = causes.hazard.gain.max(causes.by_delay.gain);
        let policer = Policer::of(sent, &causes.delays);
        if let Some((policer, is_policed)) = policer.filter(|(one, _)| one.gain > gain) {
            causes.policer = Some(policer);
            causes.is_policed = is_policed;
            return causes;
        }
        let whole = sent.iter().map(|one| u64::from(one.ip_bytes)).max();
        let whole = whole.unwrap_or(0);
        let nanos: Vec<u64> = causes.delays.iter().map(|one| one.as_nanos()).collect();
        let is_full_by_delay = |at: usize| causes.by_delay.is_full(nanos[at]);
        let least = delay_threshold::least(packet).as_nanos();
        // A burst of radio losses is one occasion, however many packets it loses at one delay: the
        // comparison has to hold for occasions, too.
        let gain_of =
            |met: &[u64], least| delay_threshold::gain(sent, met, path.base, least, &told);
        let is_by_delay = || match gain_of(&nanos, least) {
            Some(by_delay) => {
                let by_bytes = gain_of(&causes.bytes, 2 * whole).unwrap_or(0.0);
                by_delay > SHARED_RATIO * by_bytes + SHARED_GAIN_OF_OCCASIONS
            }
            None => !causes.is_own(sent, packet, whole, is_full_by_delay),
        };
        let is_shared = causes.by_delay.shows_tail_drop
            && causes.by_delay.gain > SHARED_RATIO * causes.hazard.gain.max(0.0) + SHARED_GAIN
            && !delay_threshold::is_outlasted(sent, &nanos, packet.as_nanos(), is_full_by_delay)
            && is_by_delay();
        causes.is_shared = is_shared;
        // By the delay and by the flow's bytes: a varying rate, or cross traffic in the queue, lets
        // one of them vary; and both vary with both.
        let outlasted = |is_drop: &dyn Fn(usize) -> bool| {
            is_steady(sent, path, is_drop)
                && delay_threshold::is_outlasted(sent, &nanos, packet.as_nanos(), is_drop)
                && delay_threshold::is_outlasted(sent, &causes.bytes, whole, is_drop)
        };
        let is_never_full = outlasted(&|at| causes.is_full(at));
        let counts = |at: usize| told(at) && (is_never_full || !causes.is_full(at));
        // A radio with retries delays finally lost packets, and later ones, with almost nothing in
        // the queue.
        let by_bytes = |round_trip: Duration| {
            delay_threshold::dependence(sent, &causes.bytes, round_trip, 2 * whole, counts)
        };
        let is_by_bytes =
            |round_trip: Duration| matches!(by_bytes(round_trip), Dependence::Above(_));
        let is_of_others = |from: Duration| causes.stands(sent, path.base, from, whole);
        match delay_threshold::dependence(sent, &nanos, path.base, least, counts) {
            Dependence::Above(standing) if is_by_bytes(path.base) => {
                let drops = |at: usize| counts(at) && causes.delays[at] >= standing.from;
                if outlasted(&drops) && !causes.overflows_more_often(sent, path.base, drops) {
                    causes.standing = Some(standing);
                } else {
                    causes.full_from = Some(standing);
                }
            }
            Dependence::Above(standing)
                if !delay_threshold::is_outlasted(sent, &nanos, packet.as_nanos(), |at| {
                    counts(at) && causes.delays[at] >= standing.from
                }) =>
            {
                causes.full_from = Some(standing);
            }
            Dependence::Above(standing) => {
                causes.open_from = is_of_others(standing.from).then_some(standing.from);
            }
            Dependence::Open(standing) => {
                let may_be_own = !matches!(by_bytes(path.base), Dependence::Flat);
                if may_be_own || is_of_others(standing.from) {
                    causes.open_from = Some(standing.least);
                }
            }
            Dependence::Flat => {
                // Losses of one occasion are a burst of the radio, or of a long queue.
                let each = delay_threshold::dependence(sent, &nanos, Duration::ZERO, least, counts);
                if let Dependence::Above(standing) = each
                    && (is_by_bytes(Duration::ZERO) || is_of_others(standing.from))
                {
                    causes.open_from = Some(standing.from);
                }
            }
            Dependence::NotShown => causes.is_open = true,
        }
        let is_short = |at: usize| told(at) && (is_never_full || !causes.is_full(at));
        causes.early_from = causes.early_drops(sent, path.base, packet, is_short);
        if is_never_full {
            if causes.standing.is_none() {
                causes.standing = causes.standing_of_drops(sent, packet);
            }
            (causes.is_shared, causes.full_from) = (false, None);
            causes.hazard.shows_tail_drop = false;
        }
        causes
    }

    /// Whether the flow's bytes cause most of the delay met by most drops; a packet of `whole`
    /// bytes takes `packet`.
    fn is_own(
        &self,
        sent: &[Sent],
        packet: Duration,
        whole: u64,
        is_drop: impl Fn(usize) -> bool,
    ) -> bool {
        let (mut own, mut drops) = (0, 0);
        for at in (0..sent.len()).filter(|at| sent[*at].attempt == 0 && sent[*at].is_lost) {
            if is_drop(at) {
                let wait = u128::from(self.bytes[at]) * u128::from(packet.as_nanos());
                let delay = u128::from(self.delays[at].as_nanos()) * u128::from(whole);
                own += usize::from(100 * wait >= OWN_PERCENT * delay);
                drops += 1;
            }
        }
        2 * own > drops
    }

    /// Whether a full queue drops on more occasions than an AQM with these `drops` would: an AQM
    /// keeps its queue from filling, and packets that overtake others blur the delays met by some
    /// drops of a full one. Drops within a round trip are one occasion.
    fn overflows_more_often(
        &self,
        sent: &[Sent],
        round_trip: Duration,
        drops: impl Fn(usize) -> bool,
    ) -> bool {
        let occasions = |is_one: &dyn Fn(usize) -> bool| {
            let mut last: Option<Instant> = None;
            let lost = (0..sent.len()).filter(|at| sent[*at].attempt == 0 && sent[*at].is_lost);
            lost.filter(|at| is_one(*at))
                .filter(|at| {
                    let time = sent[*at].time;
                    let is_new = last.is_none_or(|last| time > last + round_trip);
                    last = Some(time);
                    is_new
                })
                .count()
        };
        occasions(&|at| self.is_full(at)) > occasions(&drops)
    }

    /// Whether packets wait this long without losses and with hardly any of the flow's bytes in
    /// the queue: cross traffic fills it.
    fn stands(&self, sent: &[Sent], round_trip: Duration, from: Duration, packet: u64) -> bool {
        let lost: Vec<Instant> = sent
            .iter()
            .filter(|one| one.is_lost)
            .map(|one| one.time)
            .collect();
        let is_apart = |time: Instant| {
            let next = lost.partition_point(|lost| *lost < time);
            let before = next.checked_sub(1).map(|at| lost[at]);
            before.is_none_or(|lost| time > lost + round_trip)
                && lost.get(next).is_none_or(|lost| time + round_trip < *lost)
        };
        let mut delays: Vec<Duration> = (0..sent.len())
            .filter(|at| self.bytes[*at] < SHORT_PACKETS * packet && is_apart(sent[*at].time))
            .map(|at| self.delays[at])
            .collect();
        if delays.is_empty() {
            return false;
        }
        let middle = delays.len() / 2;
        let (_, median, _) = delays.select_nth_unstable(middle);
        *median * 4 >= from * 3
    }

    /// The delay from which on losses below an AQM's threshold may be early drops (PIE, RFC 8033
    /// §4.1), more of them at longer delays: a radio loses as often from a shorter queue.
    fn early_drops(
        &self,
        sent: &[Sent],
        round_trip: Duration,
        packet: Duration,
        counts: impl Fn(usize) -> bool,
    ) -> Option<Duration> {
        let standing = self.standing?;
        let nanos: Vec<u64> = self.delays.iter().map(|one| one.as_nanos()).collect();
        let least = delay_threshold::least(packet).as_nanos();
        let mut until = standing.least;
        loop {
            let is_below = |at: usize| counts(at) && self.delays[at] < until;
            match delay_threshold::dependence(sent, &nanos, round_trip, least, is_below) {
                Dependence::Above(rise) | Dependence::Open(rise) => until = rise.least,
                Dependence::Flat | Dependence::NotShown => break,
            }
        }
        if until < standing.least {
            return Some(until);
        }
        self.off_the_empty_queue(sent, round_trip, packet, counts)
    }

    /// The shortest delay of a queue, if losses below an AQM's threshold avoid the empty queue.
    fn off_the_empty_queue(
        &self,
        sent: &[Sent],
        round_trip: Duration,
        packet: Duration,
        counts: impl Fn(usize) -> bool,
    ) -> Option<Duration> {
        let (from, until) = (delay_threshold::least(packet), self.standing?.least);
        let (mut empty, mut short) = (Part::default(), Part::default());
        let mut last: Option<Instant> = None;
        for at in (0..sent.len()).filter(|at| sent[*at].attempt == 0 && counts(*at)) {
            let delay = self.delays[at];
            // Losses within a round trip are one occasion.
            let is_new = || last.is_none_or(|last| sent[at].time > last + round_trip);
            let is_occasion = sent[at].is_lost && is_new();
            if is_occasion {
                last = Some(sent[at].time);
            }
            if delay < until {
                let part = if delay < from { &mut empty } else { &mut short };
                part.trials += 1;
                part.events += u32::from(is_occasion);
            }
        }
        (chance_of_so_few(empty, short) < CHANCE).then_some(from)
    }

    /// The delay above which a queue that was not full dropped, if its drops are on too few
    /// occasions to show their dependence on the delay.
    fn standing_of_drops(&self, sent: &[Sent], packet: Duration) -> Option<DelayThreshold> {
        let mut delays: Vec<Duration> = (0..sent.len())
            .filter(|at| sent[*at].attempt == 0 && sent[*at].is_lost && self.is_full(*at))
            .map(|at| self.delays[at])
            .collect();
        delays.sort_unstable();
        let by = if self.is_shared {
            &self.by_delay
        } else {
            &self.hazard
        };
        Some(DelayThreshold {
            from: *delays.get(delays.len() / 10)?,
            least: delay_threshold::least(packet),
            likelihood: (1.0 - by.below / by.top.max(f64::MIN_POSITIVE)).max(0.0),
        })
    }

    /// Whether a loss of transmission `at` would be attributed to a full queue.
    fn is_full(&self, at: usize) -> bool {
        if self.is_shared {
            self.delays
                .get(at)
                .is_some_and(|delay| self.by_delay.is_full(delay.as_nanos()))
        } else {
            self.bytes
                .get(at)
                .is_some_and(|bytes| self.hazard.is_full(*bytes))
        }
    }

    /// Whether a loss of transmission `at` would be attributed to a queue or a policer.
    pub fn is_queues(&self, at: usize) -> bool {
        matches!(
            self.of_loss(at),
            Cause::TailDrop | Cause::Aqm | Cause::Policer | Cause::QueueOrRadio
        )
    }

    /// The flow's bytes in the queue met by transmission `at`.
    pub fn queue_bytes(&self, at: usize) -> Option<u64> {
        self.bytes.get(at).copied()
    }

    /// The cause of the loss of transmission `at`.
    pub fn of_loss(&self, at: usize) -> Cause {
        let Some(delay) = self.delays.get(at).copied() else {
            return Cause::NotShown;
        };
        if self
            .is_policed
            .get(at)
            .is_some_and(|is_policed| *is_policed)
        {
            return Cause::Policer;
        }
        if self.policer.is_some() {
            return Cause::Radio;
        }
        if self.is_full(at) {
            return Cause::TailDrop;
        }
        if let Some(standing) = self.standing.or(self.full_from) {
            return match (delay >= standing.from, standing.is_sure()) {
                (true, true) if self.full_from.is_some() => Cause::TailDrop,
                (true, true) => Cause::Aqm,
                (true, false) => Cause::QueueOrRadio,
                (false, _) if delay >= standing.least => Cause::QueueOrRadio,
                (false, _) if self.early_from.is_some_and(|from| delay >= from) => {
                    Cause::QueueOrRadio
                }
                (false, _) => Cause::Radio,
            };
        }
        if self.open_from.is_some_and(|from| delay >= from) {
            return Cause::QueueOrRadio;
        }
        let by_bytes = self.hazard.cause(self.queue_bytes(at));
        if self.is_open && by_bytes == Cause::Radio && delay >= self.short_delay {
            return Cause::QueueOrRadio;
        }
        by_bytes
    }
}

/// The delay beyond the shortest round trip met by each transmission, interpolated from
/// neighbouring round trips.
fn delays(sent: &[Sent], path: &Path<'_>) -> Vec<Duration> {
    let beyond = |packet: &Sent| {
        let base = path.base_at(packet.time);
        packet.rtt().map(|rtt| rtt.max(base) - base)
    };
    let mut before: Option<(Instant, Duration)> = None;
    let mut after: Vec<Option<(Instant, Duration)>> = vec![None; sent.len()];
    let mut next = None;
    for (at, packet) in sent.iter().enumerate().rev() {
        next = beyond(packet).map(|delay| (packet.time, delay)).or(next);
        after[at] = next;
    }
    sent.iter()
        .zip(after)
        .map(|(packet, after)| {
            if let Some(own) = beyond(packet) {
                before = Some((packet.time, own));
                return own;
            }
            match (before, after) {
                (Some(before), Some(after)) => between(before, after, packet.time),
                (Some((_, delay)), None) | (None, Some((_, delay))) => delay,
                (None, None) => Duration::ZERO,
            }
        })
        .collect()
}

fn between(
    (since, before): (Instant, Duration),
    (until, after): (Instant, Duration),
    now: Instant,
) -> Duration {
    let whole = (until - since).as_secs_f64();
    let share = if whole > 0.0 {
        (now - since).as_secs_f64() / whole
    } else {
        0.5
    };
    let delay = before.as_secs_f64() * (1.0 - share) + after.as_secs_f64() * share;
    Duration::from_secs_f64(delay.max(0.0)).unwrap_or(before)
}

/// Whether the link mostly had one rate when a queue dropped.
fn is_steady(sent: &[Sent], path: &Path<'_>, is_drop: &dyn Fn(usize) -> bool) -> bool {
    let dropped = (0..sent.len()).filter(|at| sent[*at].is_lost && is_drop(*at));
    let mut rates: Vec<f64> = dropped.map(|at| path.rate_bps(sent[at].time)).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| rates.get(rates.len() * share / 10).copied().unwrap_or(0.0);
    at(9) <= STEADY_RATIO * at(1)
}

/// The serialization time of a packet at the link's rate, estimated from the busiest tenth of the
/// time.
fn packet_time(sent: &[Sent], acks: &[Ack], path: &Path<'_>) -> Duration {
    let mut rates: Vec<u64> = acks
        .iter()
        .step_by((acks.len() / 500).max(1))
        .map(|ack| path.rate_bps(ack.time) as u64)
        .collect();
    rates.sort_unstable();
    let rate = rates.get(rates.len() * 9 / 10).copied().unwrap_or(0);
    let bits = sent.iter().map(|packet| packet.ip_bytes).max().unwrap_or(0) as u64 * 8;
    Duration::from_nanos(bits * 1_000_000_000 / rate.max(1_000))
}

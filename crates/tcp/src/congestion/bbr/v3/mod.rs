//! BBR version 3 (draft-ietf-ccwg-bbr): like version 1 a model of bandwidth and round trip, with
//! additional bounds learned from losses: how much in flight the path has been seen to bear, and
//! how much it bears at present. ECN is left out; losses are evaluated at the acknowledgment that
//! reveals them, not packet by packet (draft §5.5.10.2), as in the authors' Linux code.

use airtcp_units::{BitRate, Duration, Instant};

use super::aggregation::Aggregation;
use super::windowed_max::WindowedMax;
use super::{bit_rate, bytes_in, least_burst, scaled};
use crate::config::Config;
use crate::congestion::control::{Model, Rule, Start};
use crate::congestion::windows::Windows;
use crate::congestion::{Ack, Repairing};
use crate::delivery_rate::RateSample;

/// Draft §2.4 and §2.5.
const LOSS_THRESHOLD: (u64, u64) = (2, 100);
const BETA: f64 = 0.7;
const HEADROOM: f64 = 0.15;
const LEAST_WINDOW_SEGMENTS: u64 = 4;
const PACING_MARGIN: f64 = 0.99;
/// Draft §5.3.1: start-up is over after three round trips without growth by a quarter, or at a
/// round trip with this many losses and a loss rate above the threshold.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
const FULL_LOSSES: u32 = 6;
/// Draft §2.14 and §5.3.4.
const MINIMUM_RTT_AGE: Duration = Duration::from_secs(10);
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
const PROBE_RTT: Duration = Duration::from_millis(200);
/// Draft §5.3.3.8: probing comes after at most this many round trips, as Reno's would.
const MOST_ROUNDS_BETWEEN_PROBES: u64 = 63;
const PROBE_WAIT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// Gains of pace and window (draft §2.4, table of §5.6).
    const fn gains(self) -> (f64, f64) {
        match self {
            Self::Startup => (2.77, 2.0),
            Self::Drain => (0.5, 2.0),
            Self::Down => (0.9, 2.0),
            Self::Cruise | Self::Refill => (1.0, 2.0),
            Self::Up => (1.25, 2.25),
            Self::ProbeRtt => (1.0, 0.5),
        }
    }

    const fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }
}

/// The model, its bounds, and the resulting window. Bandwidths in bytes a second.
#[derive(Clone, Debug)]
pub struct BbrV3 {
    state: State,
    // The path.
    bandwidth: WindowedMax,
    cycles: u64,
    minimum_rtt: Option<Duration>,
    minimum_rtt_at: Instant,
    probe_rtt_least: Option<Duration>,
    probe_rtt_at: Instant,
    probe_rtt_ends: Option<Instant>,
    probe_rtt_round_done: bool,
    aggregation: Aggregation,
    // Its bounds.
    long_term: u64,
    short_term: Option<(u64, u64)>,
    // Round trips.
    round_start: bool,
    next_round: u64,
    latest_bandwidth: u64,
    latest_in_flight: u64,
    losses_in_round: u32,
    lost_in_round: bool,
    // Start-up.
    full_bandwidth: u64,
    full_rounds: u32,
    full: bool,
    // The cycle of probing.
    cycle_began: Instant,
    rounds_since_probe: u64,
    wait: Duration,
    up_rounds: u32,
    up_per_segment: u64,
    up_acked: u64,
    samples_of_probe: bool,
    // Recovery.
    prior_cwnd: u64,
    repairing: Repairing,
    idle_restart: bool,
    pace: u64,
    paced_by_rtt: bool,
    initial: u64,
}

impl BbrV3 {
    /// A new model without samples; its pace is the initial window per millisecond.
    pub fn new(windows: &Windows) -> Self {
        Self {
            state: State::Startup,
            bandwidth: WindowedMax::default(),
            cycles: 0,
            minimum_rtt: None,
            minimum_rtt_at: Instant::ZERO,
            probe_rtt_least: None,
            probe_rtt_at: Instant::ZERO,
            probe_rtt_ends: None,
            probe_rtt_round_done: false,
            aggregation: Aggregation::default(),
            long_term: u64::MAX,
            short_term: None,
            round_start: false,
            next_round: 0,
            latest_bandwidth: 0,
            latest_in_flight: 0,
            losses_in_round: 0,
            lost_in_round: false,
            full_bandwidth: 0,
            full_rounds: 0,
            full: false,
            cycle_began: Instant::ZERO,
            rounds_since_probe: 0,
            wait: PROBE_WAIT,
            up_rounds: 0,
            up_per_segment: u64::MAX,
            up_acked: 0,
            samples_of_probe: false,
            prior_cwnd: 0,
            repairing: Repairing::Nothing,
            idle_restart: false,
            pace: scaled(windows.cwnd * 1000, State::Startup.gains().0),
            paced_by_rtt: false,
            initial: windows.cwnd,
        }
    }

    /// The pacing rate.
    pub const fn pacing_rate(&self) -> BitRate {
        bit_rate(self.pace)
    }

    /// Whether the round trip is being probed with a small window.
    pub const fn is_probing_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt)
    }

    /// The bandwidth to use: the largest of the last two cycles, bounded by what the path bears at
    /// present.
    fn rate(&self) -> u64 {
        let most = self.bandwidth.get();
        self.short_term.map_or(most, |(rate, _)| rate.min(most))
    }

    fn product(&self, gain: f64) -> u64 {
        self.minimum_rtt
            .map_or(self.initial, |rtt| scaled(bytes_in(self.rate(), rtt), gain))
    }

    fn quantum(&self, windows: &Windows) -> u64 {
        // Draft §5.6.3: a millisecond of the pace, at least two segments, at most 64 kB.
        (self.pace / 1000).clamp(2 * windows.mss, 65_536)
    }

    fn in_flight_at(&self, gain: f64, windows: &Windows) -> u64 {
        let bytes = self
            .product(gain)
            .max(3 * self.quantum(windows))
            .max(LEAST_WINDOW_SEGMENTS * windows.mss);
        if self.state == State::Up {
            bytes + 2 * windows.mss
        } else {
            bytes
        }
    }

    /// The long-term bound, less headroom for others (draft §5.5.6).
    fn with_headroom(&self, windows: &Windows) -> u64 {
        if self.long_term == u64::MAX {
            return u64::MAX;
        }
        let headroom = scaled(self.long_term, HEADROOM).max(windows.mss);
        (self.long_term.saturating_sub(headroom)).max(LEAST_WINDOW_SEGMENTS * windows.mss)
    }

    fn update_round(&mut self, ack: &Ack, sample: &RateSample) {
        if sample.prior_delivered >= self.next_round {
            self.start_round(ack.delivered_in_all);
            self.round_start = true;
            self.rounds_since_probe += 1;
        }
    }

    const fn start_round(&mut self, delivered: u64) {
        self.next_round = delivered;
    }

    /// Draft §5.5.10.3: the bytes delivered in a round trip with losses bound the next ones.
    fn update_bounds_of_now(&mut self, windows: &Windows) {
        if !self.round_start {
            return;
        }
        let probing = matches!(self.state, State::Refill | State::Up | State::Startup);
        if self.lost_in_round && !probing {
            let (rate, in_flight) = self
                .short_term
                .unwrap_or((self.bandwidth.get(), windows.cwnd));
            self.short_term = Some((
                self.latest_bandwidth.max(scaled(rate, BETA)),
                self.latest_in_flight.max(scaled(in_flight, BETA)),
            ));
        }
        self.lost_in_round = false;
        self.losses_in_round = 0;
        self.latest_bandwidth = 0;
        self.latest_in_flight = 0;
    }

    fn check_start_up(&mut self, ack: &Ack, sample: &RateSample) {
        if self.full {
            return;
        }
        if self.round_start && !sample.application_limited {
            if self.bandwidth.get() >= scaled(self.full_bandwidth, FULL_GROWTH) {
                self.full_bandwidth = self.bandwidth.get();
                self.full_rounds = 0;
            } else {
                self.full_rounds += 1;
                self.full = self.full_rounds >= FULL_ROUNDS;
            }
        }
        // Draft §5.3.1.3: a full round trip in recovery, with many losses.
        if self.losses_in_round >= FULL_LOSSES
            && ack.repairing == Repairing::FastRecovery
            && is_too_much(sample)
        {
            self.full = true;
            self.long_term = self.product(1.0).max(self.latest_in_flight);
        }
        if self.full && self.state == State::Startup {
            self.state = State::Drain;
        }
    }

    fn update_cycle(&mut self, ack: &Ack, sample: &RateSample, windows: &Windows) {
        if !self.full {
            return;
        }
        self.adapt_long_term(ack, sample, windows);
        match self.state {
            State::Drain if ack.in_flight <= self.in_flight_at(1.0, windows) => {
                self.go_down(ack);
            }
            State::Down => {
                let probes = self.is_time_to_probe(ack, windows);
                let room = self
                    .in_flight_at(1.0, windows)
                    .min(self.with_headroom(windows));
                if !probes && ack.in_flight <= room {
                    self.state = State::Cruise;
                }
            }
            State::Cruise => {
                self.is_time_to_probe(ack, windows);
            }
            // One round trip with nothing queued and no bound, so that the pipe fills.
            State::Refill if self.round_start => {
                self.samples_of_probe = true;
                self.state = State::Up;
                self.cycle_began = ack.now;
                self.start_round(ack.delivered_in_all);
                self.raise_slope(windows);
            }
            State::Up => {
                let long_enough =
                    ack.now - self.cycle_began > self.minimum_rtt.unwrap_or(Duration::MAX);
                if long_enough && ack.in_flight > self.in_flight_at(1.25, windows) {
                    self.go_down(ack);
                }
            }
            _ => {}
        }
    }

    fn go_down(&mut self, ack: &Ack) {
        self.short_term = None;
        self.up_per_segment = u64::MAX;
        self.rounds_since_probe = 0;
        // Draft §5.3.3.8 waits two to three seconds; flows must not choose the same instant in
        // between.
        let spread = ack.now.as_nanos() / 1000 % 1_000_000;
        self.wait = PROBE_WAIT + Duration::from_micros(spread);
        self.cycle_began = ack.now;
        self.samples_of_probe = false;
        self.start_round(ack.delivered_in_all);
        self.state = State::Down;
        // Two cycles are remembered (draft §5.5.5, MaxBwFilterLen).
        self.cycles += 1;
    }

    fn is_time_to_probe(&mut self, ack: &Ack, windows: &Windows) -> bool {
        let reno =
            (self.product(1.0).min(windows.cwnd) / windows.mss).min(MOST_ROUNDS_BETWEEN_PROBES);
        if ack.now - self.cycle_began > self.wait || self.rounds_since_probe >= reno {
            self.short_term = None;
            self.up_rounds = 0;
            self.up_acked = 0;
            self.start_round(ack.delivered_in_all);
            self.state = State::Refill;
            return true;
        }
        false
    }

    /// Draft §5.5.10.2: losses above the threshold bound the data in flight; while probing, data
    /// delivered without them raises the bound.
    fn adapt_long_term(&mut self, ack: &Ack, sample: &RateSample, windows: &Windows) {
        if is_too_much(sample) {
            if self.samples_of_probe {
                self.samples_of_probe = false;
                if !sample.application_limited {
                    let target = scaled(self.product(1.0).min(windows.cwnd), BETA);
                    self.long_term = sample.in_flight_at_send.max(target);
                }
                if self.state == State::Up {
                    self.go_down(ack);
                }
            }
            return;
        }
        if self.long_term == u64::MAX {
            return;
        }
        self.long_term = self.long_term.max(sample.in_flight_at_send);
        if self.state == State::Up {
            self.probe_upward(ack, windows);
        }
    }

    fn raise_slope(&mut self, windows: &Windows) {
        let growth = windows.mss << self.up_rounds.min(30);
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_per_segment = (windows.cwnd / growth).max(1) * windows.mss;
    }

    fn probe_upward(&mut self, ack: &Ack, windows: &Windows) {
        let used = ack.in_flight + ack.delivered + windows.mss > windows.cwnd;
        if !used || windows.cwnd < self.long_term {
            return;
        }
        self.up_acked += ack.delivered;
        if self.up_acked >= self.up_per_segment {
            let segments = self.up_acked / self.up_per_segment;
            self.up_acked -= segments * self.up_per_segment;
            self.long_term = self.long_term.saturating_add(segments * windows.mss);
        }
        if self.round_start {
            self.raise_slope(windows);
        }
    }

    fn update_minimum_rtt(&mut self, ack: &Ack, windows: &mut Windows) {
        let probe_expired = ack.now > self.probe_rtt_at + PROBE_RTT_INTERVAL;
        if let Some(rtt) = ack.rtt
            && (probe_expired || self.probe_rtt_least.is_none_or(|least| rtt < least))
        {
            self.probe_rtt_least = Some(rtt);
            self.probe_rtt_at = ack.now;
        }
        let expired = ack.now > self.minimum_rtt_at + MINIMUM_RTT_AGE;
        if let Some(least) = self.probe_rtt_least
            && (expired || self.minimum_rtt.is_none_or(|known| least < known))
        {
            self.minimum_rtt = Some(least);
            self.minimum_rtt_at = self.probe_rtt_at;
        }
        if probe_expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.save_cwnd(windows);
            self.state = State::ProbeRtt;
            self.probe_rtt_ends = None;
            self.start_round(ack.delivered_in_all);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack, windows);
        }
        self.idle_restart = false;
    }

    fn probe_rtt_window(&self, windows: &Windows) -> u64 {
        self.product(State::ProbeRtt.gains().1)
            .max(LEAST_WINDOW_SEGMENTS * windows.mss)
    }

    fn probe_rtt(&mut self, ack: &Ack, windows: &mut Windows) {
        let Some(ends) = self.probe_rtt_ends else {
            if ack.in_flight <= self.probe_rtt_window(windows) {
                self.probe_rtt_ends = Some(ack.now + PROBE_RTT);
                self.probe_rtt_round_done = false;
                self.start_round(ack.delivered_in_all);
            }
            return;
        };
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done && ack.now > ends {
            self.probe_rtt_at = ack.now;
            windows.cwnd = windows.cwnd.max(self.prior_cwnd);
            self.short_term = None;
            if self.full {
                self.go_down(ack);
                self.state = State::Cruise;
            } else {
                self.state = State::Startup;
            }
        }
    }

    fn save_cwnd(&mut self, windows: &Windows) {
        self.prior_cwnd = if self.repairing == Repairing::Nothing && self.state != State::ProbeRtt {
            windows.cwnd
        } else {
            self.prior_cwnd.max(windows.cwnd)
        };
    }

    fn set_pace(&mut self, ack: &Ack, windows: &Windows) {
        let gain = self.state.gains().0;
        if !self.paced_by_rtt && ack.srtt > Duration::ZERO {
            self.paced_by_rtt = true;
            let rate = u128::from(windows.cwnd) * 1_000_000_000 / u128::from(ack.srtt.as_nanos());
            self.pace = scaled(u64::try_from(rate).unwrap_or(u64::MAX), gain);
        }
        let pace = scaled(self.rate(), gain * PACING_MARGIN);
        if self.full || pace > self.pace {
            self.pace = pace.max(1);
        }
    }

    fn set_cwnd(&mut self, ack: &Ack, windows: &mut Windows) {
        let before = core::mem::replace(&mut self.repairing, ack.repairing);
        if ack.repairing == Repairing::Nothing && before != Repairing::Nothing {
            windows.cwnd = windows.cwnd.max(self.prior_cwnd);
        }
        let target = self
            .product(self.state.gains().1)
            .saturating_add(self.aggregation.most())
            .max(3 * self.quantum(windows));
        if self.full {
            windows.cwnd = (windows.cwnd + ack.delivered).min(target);
        } else if windows.cwnd < target || ack.delivered_in_all < self.initial {
            windows.cwnd += ack.delivered;
        }
        let least = LEAST_WINDOW_SEGMENTS * windows.mss;
        windows.cwnd = windows.cwnd.max(least);
        if self.state == State::ProbeRtt {
            windows.cwnd = windows.cwnd.min(self.probe_rtt_window(windows));
        }
        // Draft §5.6.4.6: the bounds.
        let bound = match self.state {
            State::Cruise | State::ProbeRtt => self.with_headroom(windows),
            state if state.probes_bandwidth() => self.long_term,
            _ => u64::MAX,
        };
        let bound = self.short_term.map_or(bound, |(_, bytes)| bound.min(bytes));
        windows.cwnd = windows.cwnd.min(bound.max(least)).min(windows.max);
    }
}

/// Draft §5.5.10.2: whether more than 2 % of the bytes in flight when the segment was sent are
/// lost.
fn is_too_much(sample: &RateSample) -> bool {
    let (numerator, denominator) = LOSS_THRESHOLD;
    sample.lost * denominator > sample.in_flight_at_send * numerator
}

impl Start for BbrV3 {
    fn start(_config: &Config, windows: &Windows) -> Self {
        Self::new(windows)
    }
}

impl Rule for BbrV3 {
    fn model(&self) -> Option<Model> {
        Some(Model {
            pacing_rate: self.pacing_rate(),
            least_burst: least_burst(self.pacing_rate()),
            is_probing_rtt: self.is_probing_rtt(),
        })
    }

    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        self.round_start = false;
        if ack.lost > 0 {
            self.lost_in_round = true;
            let segments = u32::try_from(ack.lost.div_ceil(windows.mss)).unwrap_or(u32::MAX);
            self.losses_in_round = self.losses_in_round.saturating_add(segments);
        }
        if let Some(sample) = ack.rate {
            let rate = sample.bytes_per_second();
            self.latest_bandwidth = self.latest_bandwidth.max(rate);
            self.latest_in_flight = self.latest_in_flight.max(sample.delivered);
            self.update_round(ack, &sample);
            if !sample.application_limited || rate >= self.bandwidth.get() {
                self.bandwidth.update(1, self.cycles, rate);
            }
            self.check_start_up(ack, &sample);
            self.update_cycle(ack, &sample, windows);
            self.update_bounds_of_now(windows);
        }
        let rate = self.bandwidth.get();
        self.aggregation
            .on_delivered(ack.now, ack.delivered, rate, windows.cwnd, self.round_start);
        self.update_minimum_rtt(ack, windows);
        self.set_pace(ack, windows);
        self.set_cwnd(ack, windows);
    }

    fn grow(&mut self, _acked: u64, _windows: &Windows) -> u64 {
        0
    }

    /// The window is saved until the recovery ends; BBR does not use the threshold.
    fn threshold(&mut self, _base: u64, windows: &Windows) -> u64 {
        self.save_cwnd(windows);
        windows.ssthresh
    }

    fn on_timeout(&mut self) {
        self.repairing = Repairing::Timeout;
        self.full_bandwidth = 0;
    }

    fn on_idle_over(&mut self, now: Instant, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.probes_bandwidth() {
            self.pace = scaled(self.rate(), PACING_MARGIN).max(1);
        }
    }
}

#[cfg(test)]
mod tests;

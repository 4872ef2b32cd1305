//! BBR version 3 (draft-ietf-ccwg-bbr): like version 1 a model of bandwidth and round trip, with
//! additional bounds learned from losses: the data in flight that the path has sustained, and the
//! amount it sustains at present. ECN is left out; losses are evaluated at the acknowledgment that
//! reveals them, not packet by packet (draft §5.5.10.2), as in the authors' Linux code.

mod bounds;
mod cycle;

use airtcp_units::{Duration, Instant};

use self::bounds::{Bounds, is_too_much};
use self::cycle::Cycle;
use super::aggregation::Aggregation;
use super::full_pipe::FullPipe;
use super::minimum_rtt::{self, MinimumRtt, RttProbe};
use super::pace::Pace;
use super::rounds::Rounds;
use super::scaled;
use super::window::{self, LastGood};
use crate::config::Config;
use crate::congestion::model::{Demands, Model};
use crate::congestion::rule::Start;
use crate::congestion::windowed_max::WindowedMax;
use crate::congestion::windows::Windows;
use crate::congestion::{Ack, Repairing};
use crate::delivery_rate::RateSample;

/// Draft §2.5.
const BETA: f64 = 0.7;
/// Draft §5.3.1: start-up is over when the pipe is full, or at a round trip with this many losses
/// and a loss rate above the threshold.
const FULL_LOSSES: u32 = 6;
/// Draft §2.14 and §5.3.4.
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);

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
    minimum_rtt: MinimumRtt,
    /// Shortest round trip since it was last probed.
    recent_rtt: MinimumRtt,
    rtt_probe: RttProbe,
    aggregation: Aggregation,
    bounds: Bounds,
    rounds: Rounds,
    full: FullPipe,
    cycle: Cycle,
    // State derived from them.
    pace: Pace,
    last_good: LastGood,
    idle_restart: bool,
    initial: u64,
}

impl BbrV3 {
    /// A new model without samples; its pace is the initial window per millisecond.
    pub fn new(windows: &Windows) -> Self {
        Self {
            state: State::Startup,
            bandwidth: WindowedMax::default(),
            minimum_rtt: MinimumRtt::default(),
            recent_rtt: MinimumRtt::default(),
            rtt_probe: RttProbe::default(),
            aggregation: Aggregation::default(),
            bounds: Bounds::NONE,
            rounds: Rounds::default(),
            full: FullPipe::default(),
            cycle: Cycle::START,
            pace: Pace::new(windows.cwnd, State::Startup.gains().0),
            last_good: LastGood::NONE,
            idle_restart: false,
            initial: windows.cwnd,
        }
    }

    /// Whether the round trip is being probed with a small window.
    pub const fn is_probing_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt)
    }

    /// The bandwidth to use: the maximum of the last two cycles, bounded by the rate that the path
    /// sustains at present.
    fn rate(&self) -> u64 {
        let most = self.bandwidth.get();
        let bound = self.bounds.short_term;
        bound.map_or(most, |(rate, _)| rate.min(most))
    }

    /// The bandwidth-delay product; the initial window before the round trip is known.
    fn product(&self) -> u64 {
        self.minimum_rtt
            .product(self.rate())
            .unwrap_or(self.initial)
    }

    /// `gain` times the product; the initial window before the round trip is known.
    fn products(&self, gain: f64) -> u64 {
        let product = self.minimum_rtt.product(self.rate());
        product.map_or(self.initial, |bytes| scaled(bytes, gain))
    }

    fn quantum(&self, windows: &Windows) -> u64 {
        // Draft §5.6.3: a millisecond of the pace, at least two segments, at most 64 kB.
        (self.pace.rate / 1000).clamp(2 * windows.mss, 65_536)
    }

    fn in_flight_at(&self, gain: f64, windows: &Windows) -> u64 {
        let bytes = self
            .products(gain)
            .max(3 * self.quantum(windows))
            .max(window::least(windows));
        if self.state == State::Up {
            bytes + 2 * windows.mss
        } else {
            bytes
        }
    }

    fn update_round(&mut self, ack: &Ack, sample: &RateSample) {
        let (prior, delivered) = (sample.prior_delivered, ack.delivered_in_all);
        if self.rounds.on_sample(prior, delivered) {
            self.cycle.rounds_since_probe += 1;
        }
    }

    fn end_round(&mut self, windows: &Windows) {
        if self.rounds.start {
            let probes = matches!(self.state, State::Refill | State::Up | State::Startup);
            let bandwidth = self.bandwidth.get();
            self.bounds.end_round(probes, bandwidth, windows.cwnd);
        }
    }

    fn check_start_up(&mut self, ack: &Ack, sample: &RateSample) {
        if self.full.reached {
            return;
        }
        let limited = sample.application_limited;
        self.full
            .check(self.rounds.start, limited, self.bandwidth.get());
        // Draft §5.3.1.3: a full round trip in recovery, with many losses.
        if self.bounds.losses_in_round >= FULL_LOSSES
            && ack.repairing == Repairing::FastRecovery
            && is_too_much(sample)
        {
            self.full.reached = true;
            self.bounds.long_term = self.product().max(self.bounds.latest_in_flight);
        }
        if self.full.reached && self.state == State::Startup {
            self.state = State::Drain;
        }
    }

    fn update_cycle(&mut self, ack: &Ack, sample: &RateSample, windows: &Windows) {
        if !self.full.reached {
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
                    .min(self.bounds.with_headroom(windows));
                if !probes && ack.in_flight <= room {
                    self.state = State::Cruise;
                }
            }
            State::Cruise => {
                self.is_time_to_probe(ack, windows);
            }
            // One round trip with nothing queued and no bound, so that the pipe fills.
            State::Refill if self.rounds.start => {
                self.state = State::Up;
                self.rounds.restart(ack.delivered_in_all);
                self.cycle.go_up(ack.now, windows);
            }
            State::Up => {
                let long_enough = self.minimum_rtt.has_passed(self.cycle.began, ack.now);
                if long_enough && ack.in_flight > self.in_flight_at(1.25, windows) {
                    self.go_down(ack);
                }
            }
            _ => {}
        }
    }

    fn go_down(&mut self, ack: &Ack) {
        self.bounds.short_term = None;
        self.cycle.restart(ack.now);
        self.rounds.restart(ack.delivered_in_all);
        self.state = State::Down;
    }

    fn is_time_to_probe(&mut self, ack: &Ack, windows: &Windows) -> bool {
        let segments = self.product().min(windows.cwnd) / windows.mss;
        if !self.cycle.is_due(ack.now, segments) {
            return false;
        }
        self.bounds.short_term = None;
        self.cycle.refill();
        self.rounds.restart(ack.delivered_in_all);
        self.state = State::Refill;
        true
    }

    /// Draft §5.5.10.2: losses above the threshold bound the data in flight; while probing, data
    /// delivered without them raises the bound.
    fn adapt_long_term(&mut self, ack: &Ack, sample: &RateSample, windows: &Windows) {
        if is_too_much(sample) {
            if self.cycle.samples_of_probe {
                self.cycle.samples_of_probe = false;
                if !sample.application_limited {
                    let target = scaled(self.product().min(windows.cwnd), BETA);
                    self.bounds.long_term = sample.in_flight_at_send.max(target);
                }
                if self.state == State::Up {
                    self.go_down(ack);
                }
            }
            return;
        }
        let bound = self.bounds.long_term;
        if bound == u64::MAX {
            return;
        }
        self.bounds.long_term = bound.max(sample.in_flight_at_send);
        if self.state == State::Up {
            self.probe_upward(ack, windows);
        }
    }

    fn probe_upward(&mut self, ack: &Ack, windows: &Windows) {
        let used = ack.in_flight + ack.delivered + windows.mss > windows.cwnd;
        if !used || windows.cwnd < self.bounds.long_term {
            return;
        }
        let growth = self.cycle.climb(ack.delivered) * windows.mss;
        self.bounds.long_term = self.bounds.long_term.saturating_add(growth);
        if self.rounds.start {
            self.cycle.raise_slope(windows);
        }
    }

    fn update_minimum_rtt(&mut self, ack: &Ack, windows: &mut Windows) {
        let due = self
            .recent_rtt
            .update(ack.now, ack.rtt, ack.now, PROBE_RTT_INTERVAL);
        let MinimumRtt { rtt, at } = self.recent_rtt;
        self.minimum_rtt.update(ack.now, rtt, at, minimum_rtt::AGE);
        if due && !self.idle_restart && self.state != State::ProbeRtt {
            self.save_cwnd(windows);
            self.state = State::ProbeRtt;
            self.rtt_probe.begin();
            self.rounds.restart(ack.delivered_in_all);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack, windows);
        }
        self.idle_restart = false;
    }

    fn probe_rtt_window(&self, windows: &Windows) -> u64 {
        self.products(State::ProbeRtt.gains().1)
            .max(window::least(windows))
    }

    fn probe_rtt(&mut self, ack: &Ack, windows: &mut Windows) {
        let window = self.probe_rtt_window(windows);
        if !self.rtt_probe.is_over(ack, &mut self.rounds, window) {
            return;
        }
        self.recent_rtt.at = ack.now;
        self.last_good.restore(windows);
        self.bounds.short_term = None;
        if self.full.reached {
            self.go_down(ack);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn save_cwnd(&mut self, windows: &Windows) {
        self.last_good.save(windows.cwnd, self.is_probing_rtt());
    }

    fn set_pace(&mut self, ack: &Ack, windows: &Windows) {
        let (rate, gain) = (self.rate(), self.state.gains().0);
        self.pace.on_rtt(windows.cwnd, ack.srtt, gain);
        self.pace.follow(rate, gain, self.full.reached);
    }

    fn set_cwnd(&mut self, ack: &Ack, windows: &mut Windows) {
        let before = self.last_good.replace_repair(ack.repairing);
        if ack.repairing == Repairing::Nothing && before != Repairing::Nothing {
            self.last_good.restore(windows);
        }
        let target = self
            .products(self.state.gains().1)
            .saturating_add(self.aggregation.most())
            .max(3 * self.quantum(windows));
        window::approach(target, self.full.reached, self.initial, ack, windows);
        if self.state == State::ProbeRtt {
            windows.cwnd = windows.cwnd.min(self.probe_rtt_window(windows));
        }
        // Draft §5.6.4.6: the bounds.
        let bound = match self.state {
            State::Cruise | State::ProbeRtt => self.bounds.with_headroom(windows),
            state if state.probes_bandwidth() => self.bounds.long_term,
            _ => u64::MAX,
        };
        let present = self.bounds.short_term;
        let bound = present.map_or(bound, |(_, bytes)| bound.min(bytes));
        let bound = bound.max(window::least(windows));
        windows.cwnd = windows.cwnd.min(bound).min(windows.max);
    }
}

impl Start for BbrV3 {
    fn start(_config: &Config, windows: &Windows) -> Self {
        Self::new(windows)
    }
}

impl Model for BbrV3 {
    fn demands(&self) -> Demands {
        self.pace.demands(self.is_probing_rtt())
    }

    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        self.rounds.start = false;
        self.bounds.on_loss(ack.lost, windows.mss);
        if let Some(sample) = ack.rate {
            let rate = sample.bytes_per_second();
            self.bounds.on_sample(rate, sample.delivered);
            self.update_round(ack, &sample);
            let limited = sample.application_limited;
            self.bandwidth.on_sample(1, self.cycle.count, rate, limited);
            self.check_start_up(ack, &sample);
            self.update_cycle(ack, &sample, windows);
            self.end_round(windows);
        }
        let rate = self.bandwidth.get();
        let round_start = self.rounds.start;
        self.aggregation
            .on_delivered(ack.now, ack.delivered, rate, windows.cwnd, round_start);
        self.update_minimum_rtt(ack, windows);
        self.set_pace(ack, windows);
        self.set_cwnd(ack, windows);
    }

    /// The window is saved until the recovery ends.
    fn on_loss(&mut self, windows: &Windows) {
        self.save_cwnd(windows);
    }

    fn on_timeout(&mut self) {
        self.last_good.replace_repair(Repairing::Timeout);
        self.full.on_timeout();
    }

    fn on_idle_over(&mut self, now: Instant) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.probes_bandwidth() {
            let rate = self.rate();
            self.pace.resume(rate);
        }
    }
}

#[cfg(test)]
mod tests;

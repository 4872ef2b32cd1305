//! BBR version 1 (Cardwell, Cheng, Gunn, Yeganeh & Jacobson, "BBR: Congestion-based congestion
//! control", ACM Queue 14(5), 2016; `net/ipv4/tcp_bbr.c`).

use airtcp_units::{BitRate, Duration, Instant};

use super::aggregation::Aggregation;
use super::policed_rate::{Moment, PolicedRate};
use super::windowed_max::WindowedMax;
use super::{bit_rate, bytes_in, least_burst, scaled};
use crate::config::Config;
use crate::congestion::control::{Model, Rule, Start};
use crate::congestion::windows::Windows;
use crate::congestion::{Ack, Repairing};
use crate::delivery_rate::RateSample;

/// 2/ln 2, the least gain that doubles the rate each round trip, as the kernel's fraction with
/// denominator 256.
const HIGH_GAIN: f64 = 739.0 / 256.0;
/// Drains in one round trip the queue that start-up has built.
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// Gain of the window, in bandwidth-delay products.
const CWND_GAIN: f64 = 2.0;
/// One round trip each: more, to probe; less, to drain the resulting queue; then the estimate
/// itself.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Round trips for which a bandwidth sample is remembered.
const BANDWIDTH_ROUNDS: u64 = 10;
/// The pipe is full when the bandwidth has not grown by a quarter in three round trips.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Age at which the minimum round trip expires and is measured again with an empty queue.
const MINIMUM_RTT_AGE: Duration = Duration::from_secs(10);
const PROBE_RTT: Duration = Duration::from_millis(200);
const LEAST_WINDOW_SEGMENTS: u64 = 4;
/// The pace stays a little below the estimate, so that no queue builds up.
const PACING_MARGIN: f64 = 0.99;
/// The largest burst that the window allows for: that of segmentation offload.
const MOST_BURST_BYTES: u64 = 65_215;
/// Upper bound of the allowance for aggregation.
const MOST_AGGREGATION: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// The model, and the window and pace derived from it.
#[derive(Clone, Debug)]
pub struct Bbr {
    mode: Mode,
    bandwidth: WindowedMax,
    rounds: u64,
    next_round: u64,
    round_start: bool,
    minimum_rtt: Option<Duration>,
    minimum_rtt_at: Instant,
    probe_rtt_ends: Option<Instant>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    full_bandwidth: u64,
    full_rounds: u32,
    full: bool,
    phase: usize,
    phase_began: Instant,
    aggregation: Aggregation,
    policed: PolicedRate,
    /// Bytes delivered and presumed lost at the last acknowledgment.
    told: (u64, u64),
    now: Instant,
    prior_cwnd: u64,
    repairing: Repairing,
    conserving: bool,
    /// In bytes a second.
    pace: u64,
    paced_by_rtt: bool,
    /// A burst lasts 2^−shift seconds.
    pacing_shift: u32,
    initial: u64,
}

impl Bbr {
    /// A new model without samples; its pace is the initial window per millisecond, in bursts of
    /// 2^−`pacing_shift` seconds.
    pub fn new(windows: &Windows, pacing_shift: u32) -> Self {
        Self {
            mode: Mode::Startup,
            bandwidth: WindowedMax::default(),
            rounds: 0,
            next_round: 0,
            round_start: false,
            minimum_rtt: None,
            minimum_rtt_at: Instant::ZERO,
            probe_rtt_ends: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            full_bandwidth: 0,
            full_rounds: 0,
            full: false,
            phase: 0,
            phase_began: Instant::ZERO,
            aggregation: Aggregation::default(),
            policed: PolicedRate::default(),
            told: (0, 0),
            now: Instant::ZERO,
            prior_cwnd: 0,
            repairing: Repairing::Nothing,
            conserving: false,
            pace: scaled(windows.cwnd * 1000, HIGH_GAIN * PACING_MARGIN),
            paced_by_rtt: false,
            pacing_shift,
            initial: windows.cwnd,
        }
    }

    /// The pacing rate.
    pub const fn pacing_rate(&self) -> BitRate {
        bit_rate(self.pace)
    }

    /// Whether the round trip is being probed with an almost empty window, so that what is sent
    /// then does not measure the bandwidth.
    pub const fn is_probing_rtt(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt)
    }

    /// The current pacing gain.
    pub fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBandwidth if self.policed.get().is_some() => 1.0,
            Mode::ProbeBandwidth => CYCLE[self.phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    /// The bandwidth to use, in bytes a second: a policer's, or the largest of late (`bbr_bw`).
    fn rate(&self) -> u64 {
        self.policed.get().unwrap_or_else(|| self.bandwidth.get())
    }

    const fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBandwidth => CWND_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// `gain` bandwidth-delay products, plus the allowance for segmentation and delayed
    /// acknowledgments (`bbr_inflight`).
    fn in_flight_at(&self, gain: f64, windows: &Windows) -> u64 {
        let product = self.minimum_rtt.map_or(self.initial, |rtt| {
            scaled(bytes_in(self.bandwidth.get(), rtt), gain)
        });
        self.with_quantum(product, windows)
    }

    fn with_quantum(&self, bytes: u64, windows: &Windows) -> u64 {
        let mss = windows.mss;
        let segments = bytes.div_ceil(mss) + 3 * self.burst(mss);
        let mut segments = segments.next_multiple_of(2);
        if self.mode == Mode::ProbeBandwidth && self.phase == 0 {
            segments += 2;
        }
        segments * mss
    }

    /// Segments per paced burst (`bbr_tso_segs_goal`).
    fn burst(&self, mss: u64) -> u64 {
        let bytes = self.pace.checked_shr(self.pacing_shift).unwrap_or(0);
        (bytes.min(MOST_BURST_BYTES) / mss).max(least_burst(self.pacing_rate()))
    }

    /// Bytes that will be in the network when the next segment may leave, with `in_flight` bytes
    /// unacknowledged now: less the data delivered until then, plus the next burst when probing
    /// upwards (`bbr_packets_in_net_at_edt`).
    fn in_network(&self, ack: &Ack, in_flight: u64, windows: &Windows) -> u64 {
        let delivered = bytes_in(self.rate(), ack.next_departure - ack.now);
        let leaving = if self.pacing_gain() > 1.0 {
            self.burst(windows.mss) * windows.mss
        } else {
            0
        };
        (in_flight + leaving).saturating_sub(delivered)
    }

    fn update_bandwidth(&mut self, ack: &Ack, sample: &RateSample) {
        if sample.prior_delivered >= self.next_round {
            self.next_round = ack.delivered_in_all;
            self.rounds += 1;
            self.round_start = true;
            self.conserving = false;
        }
        let is_cycling = self.mode == Mode::ProbeBandwidth;
        let moment = Moment {
            now: ack.now,
            delivered: ack.delivered_in_all,
            lost: ack.lost_in_all,
            shows_loss: ack.lost > 0,
            application_limited: sample.application_limited,
            round_start: self.round_start,
            is_cycling,
        };
        if self.policed.on_acknowledged(&moment) && is_cycling {
            self.probe_bandwidth(ack.now);
        }
        let rate = sample.bytes_per_second();
        if !sample.application_limited || rate >= self.bandwidth.get() {
            self.bandwidth.update(BANDWIDTH_ROUNDS, self.rounds, rate);
        }
    }

    fn update_phase(&mut self, ack: &Ack, windows: &Windows) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let long_enough = ack.now - self.phase_began > self.minimum_rtt.unwrap_or(Duration::MAX);
        let in_network = || self.in_network(ack, ack.in_flight_before, windows);
        let gain = self.pacing_gain();
        let over = if gain > 1.0 {
            // Until the data in flight exceeds what the pipe holds, or is lost.
            long_enough && (ack.lost > 0 || in_network() >= self.in_flight_at(gain, windows))
        } else if gain < 1.0 {
            long_enough || in_network() <= self.in_flight_at(1.0, windows)
        } else {
            long_enough
        };
        if over {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_began = ack.now;
        }
    }

    fn check_full(&mut self, limited: bool) {
        if self.full || !self.round_start || limited {
            return;
        }
        if self.bandwidth.get() >= scaled(self.full_bandwidth, FULL_GROWTH) {
            self.full_bandwidth = self.bandwidth.get();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    fn check_drain(&mut self, ack: &Ack, windows: &mut Windows) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            windows.ssthresh = self.in_flight_at(1.0, windows);
        }
        if self.mode == Mode::Drain {
            let in_network = self.in_network(ack, ack.in_flight, windows);
            if in_network <= self.in_flight_at(1.0, windows) {
                self.probe_bandwidth(ack.now);
            }
        }
    }

    /// Flows should start anywhere in the cycle except where it drains; here the time decides,
    /// which no two flows share to the nanosecond.
    fn probe_bandwidth(&mut self, now: Instant) {
        self.mode = Mode::ProbeBandwidth;
        self.phase_began = now;
        let draws = usize::try_from(now.as_nanos() / 1000 % 7).unwrap_or(0);
        // Seven phases: all but the draining one.
        self.phase = if draws == 0 { 0 } else { draws + 1 };
    }

    fn update_minimum_rtt(&mut self, ack: &Ack, windows: &mut Windows) {
        let expired = ack.now > self.minimum_rtt_at + MINIMUM_RTT_AGE;
        // An equal sample does not count here, although it does in the kernel: a simulated path
        // repeats its minimum round trip to the nanosecond, and the minimum would never be probed.
        if let Some(rtt) = ack.rtt
            && (expired || self.minimum_rtt.is_none_or(|least| rtt < least))
        {
            self.minimum_rtt = Some(rtt);
            self.minimum_rtt_at = ack.now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(windows);
            self.probe_rtt_ends = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(ack, windows);
        }
        self.idle_restart = false;
    }

    fn probe_rtt(&mut self, ack: &Ack, windows: &mut Windows) {
        let Some(ends) = self.probe_rtt_ends else {
            if ack.in_flight <= LEAST_WINDOW_SEGMENTS * windows.mss {
                self.probe_rtt_ends = Some(ack.now + PROBE_RTT);
                self.probe_rtt_round_done = false;
                self.next_round = ack.delivered_in_all;
            }
            return;
        };
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done && ack.now > ends {
            self.minimum_rtt_at = ack.now;
            windows.cwnd = windows.cwnd.max(self.prior_cwnd);
            if self.full {
                self.probe_bandwidth(ack.now);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    fn save_cwnd(&mut self, windows: &Windows) {
        self.prior_cwnd = if self.repairing == Repairing::Nothing && self.mode != Mode::ProbeRtt {
            windows.cwnd
        } else {
            self.prior_cwnd.max(windows.cwnd)
        };
    }

    fn set_pace(&mut self, ack: &Ack, windows: &Windows) {
        if !self.paced_by_rtt && ack.srtt > Duration::ZERO {
            self.paced_by_rtt = true;
            let rate = u128::from(windows.cwnd) * 1_000_000_000 / u128::from(ack.srtt.as_nanos());
            let rate = u64::try_from(rate).unwrap_or(u64::MAX);
            self.pace = scaled(rate, HIGH_GAIN * PACING_MARGIN);
        }
        let pace = scaled(self.rate(), self.pacing_gain() * PACING_MARGIN);
        if self.full || pace > self.pace {
            self.pace = pace.max(1);
        }
    }

    /// In the first round trip of a recovery only as much is sent as is delivered; after it the
    /// earlier window is restored. Returns whether the window is set
    /// (`bbr_set_cwnd_to_recover_or_restore`).
    fn recover(&mut self, ack: &Ack, windows: &mut Windows) -> bool {
        if ack.lost > 0 {
            windows.cwnd = windows.cwnd.saturating_sub(ack.lost).max(windows.mss);
        }
        let before = core::mem::replace(&mut self.repairing, ack.repairing);
        if ack.repairing == Repairing::FastRecovery && before != Repairing::FastRecovery {
            self.conserving = true;
            self.next_round = ack.delivered_in_all;
            windows.cwnd = (ack.in_flight + ack.delivered).max(windows.mss);
        } else if ack.repairing == Repairing::Nothing && before != Repairing::Nothing {
            windows.cwnd = windows.cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        if self.conserving {
            windows.cwnd = windows.cwnd.max(ack.in_flight + ack.delivered);
        }
        self.conserving
    }

    fn set_cwnd(&mut self, ack: &Ack, windows: &mut Windows) {
        if ack.delivered > 0 && !self.recover(ack, windows) {
            let product = self.minimum_rtt.map_or(self.initial, |rtt| {
                scaled(bytes_in(self.rate(), rtt), self.cwnd_gain())
            });
            let most = bytes_in(self.rate(), MOST_AGGREGATION);
            let aggregated = if self.full {
                self.aggregation.most().min(most)
            } else {
                0
            };
            let target = self.with_quantum(product + aggregated, windows);
            if self.full {
                windows.cwnd = (windows.cwnd + ack.delivered).min(target);
            } else if windows.cwnd < target || ack.delivered_in_all < self.initial {
                windows.cwnd += ack.delivered;
            }
            windows.cwnd = windows.cwnd.max(LEAST_WINDOW_SEGMENTS * windows.mss);
        }
        windows.cwnd = windows.cwnd.min(windows.max);
        if self.mode == Mode::ProbeRtt {
            windows.cwnd = windows.cwnd.min(LEAST_WINDOW_SEGMENTS * windows.mss);
        }
    }
}

impl Start for Bbr {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self::new(windows, config.pacing_shift)
    }
}

impl Rule for Bbr {
    fn model(&self) -> Option<Model> {
        Some(Model {
            pacing_rate: self.pacing_rate(),
            least_burst: least_burst(self.pacing_rate()),
            is_probing_rtt: self.is_probing_rtt(),
        })
    }

    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        self.round_start = false;
        if let Some(sample) = &ack.rate {
            self.update_bandwidth(ack, sample);
        }
        self.told = (ack.delivered_in_all, ack.lost_in_all);
        self.now = ack.now;
        if ack.rate.is_some() && ack.delivered > 0 {
            let rate = self.rate();
            self.aggregation.on_delivered(
                ack.now,
                ack.delivered,
                rate,
                windows.cwnd,
                self.round_start,
            );
        }
        self.update_phase(ack, windows);
        self.check_full(ack.rate.is_none_or(|sample| sample.application_limited));
        self.check_drain(ack, windows);
        self.update_minimum_rtt(ack, windows);
        self.set_pace(ack, windows);
        self.set_cwnd(ack, windows);
    }

    fn grow(&mut self, _acked: u64, _windows: &Windows) -> u64 {
        0
    }

    /// A loss leaves the threshold, which BBR does not use, unchanged; the window is saved until
    /// the recovery ends.
    fn threshold(&mut self, _base: u64, windows: &Windows) -> u64 {
        self.save_cwnd(windows);
        windows.ssthresh
    }

    fn on_timeout(&mut self) {
        self.repairing = Repairing::Timeout;
        self.full_bandwidth = 0;
        self.policed.on_timeout();
    }

    /// The bandwidth did not grow because the sender slowed down needlessly (`bbr_undo_cwnd`).
    fn on_taken_back(&mut self) {
        self.full_bandwidth = 0;
        self.full_rounds = 0;
        let (delivered, lost) = self.told;
        self.policed.reset(self.now, delivered, lost);
    }

    fn on_idle_over(&mut self, now: Instant, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.mode == Mode::ProbeBandwidth {
            self.pace = scaled(self.rate(), PACING_MARGIN).max(1);
        }
    }
}

#[cfg(test)]
mod tests;

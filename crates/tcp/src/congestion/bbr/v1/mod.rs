//! BBR version 1 (Cardwell, Cheng, Gunn, Yeganeh & Jacobson, "BBR: Congestion-based congestion
//! control", ACM Queue 14(5), 2016; `net/ipv4/tcp_bbr.c`).

mod mode;

use airtcp_units::{BitRate, Duration, Instant};

use self::mode::{Cycle, HIGH_GAIN, Mode};
use super::aggregation::Aggregation;
use super::full_pipe::FullPipe;
use super::minimum_rtt::{self, MinimumRtt, RttProbe};
use super::pace::{self, Pace};
use super::policed_rate::{Moment, PolicedRate};
use super::rounds::Rounds;
use super::window::{self, LastGood};
use super::{bytes_in, least_burst, scaled};
use crate::config::Config;
use crate::congestion::model::{Demands, Model};
use crate::congestion::rule::Start;
use crate::congestion::windowed_max::WindowedMax;
use crate::congestion::windows::Windows;
use crate::congestion::{Ack, Repairing};
use crate::delivery_rate::RateSample;

/// Round trips for which a bandwidth sample is remembered.
const BANDWIDTH_ROUNDS: u64 = 10;
/// Gain of the first pace, before the bandwidth is known.
const FIRST_GAIN: f64 = HIGH_GAIN * pace::MARGIN;
/// The largest burst that the window allows for: that of segmentation offload.
const MAX_BURST_BYTES: u64 = 65_215;
/// Upper bound of the allowance for aggregation.
const MAX_AGGREGATION: Duration = Duration::from_millis(100);

/// The model, and the window and pace derived from it.
#[derive(Clone, Debug)]
pub struct Bbr {
    mode: Mode,
    bandwidth: WindowedMax,
    rounds: Rounds,
    minimum_rtt: MinimumRtt,
    idle_restart: bool,
    full: FullPipe,
    aggregation: Aggregation,
    policed: PolicedRate,
    /// Bytes delivered and presumed lost at the last acknowledgment.
    told: (u64, u64),
    now: Instant,
    last_good: LastGood,
    conserving: bool,
    pace: Pace,
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
            rounds: Rounds::default(),
            minimum_rtt: MinimumRtt::default(),
            idle_restart: false,
            full: FullPipe::default(),
            aggregation: Aggregation::default(),
            policed: PolicedRate::default(),
            told: (0, 0),
            now: Instant::ZERO,
            last_good: LastGood::NONE,
            conserving: false,
            pace: Pace::new(windows.cwnd, FIRST_GAIN),
            pacing_shift,
            initial: windows.cwnd,
        }
    }

    /// The pacing rate.
    pub const fn pacing_rate(&self) -> BitRate {
        self.pace.get()
    }

    /// Whether the round trip is being probed with an almost empty window, so that data sent then
    /// does not measure the bandwidth.
    pub const fn is_probing_rtt(&self) -> bool {
        self.mode.is_probing_rtt()
    }

    /// The current pacing gain.
    pub fn pacing_gain(&self) -> f64 {
        if self.mode.is_cycling() && self.policed.get().is_some() {
            1.0
        } else {
            self.mode.pacing_gain()
        }
    }

    /// The bandwidth to use, in bytes a second: a policer's, or the recent maximum (`bbr_bw`).
    fn rate(&self) -> u64 {
        self.policed.get().unwrap_or_else(|| self.bandwidth.get())
    }

    /// `gain` bandwidth-delay products, plus the allowance for segmentation and delayed
    /// acknowledgments (`bbr_inflight`).
    fn in_flight_at(&self, gain: f64, windows: &Windows) -> u64 {
        let product = self.minimum_rtt.product(self.bandwidth.get());
        let target = product.map_or(self.initial, |bytes| scaled(bytes, gain));
        self.with_quantum(target, windows)
    }

    /// The same at a gain of 1, at which nothing is queued.
    fn drained(&self, windows: &Windows) -> u64 {
        let product = self.minimum_rtt.product(self.bandwidth.get());
        self.with_quantum(product.unwrap_or(self.initial), windows)
    }

    fn with_quantum(&self, bytes: u64, windows: &Windows) -> u64 {
        let mss = windows.mss;
        let segments = bytes.div_ceil(mss) + 3 * self.burst(mss);
        let mut segments = segments.next_multiple_of(2);
        if self.mode.is_probing_upwards() {
            segments += 2;
        }
        segments * mss
    }

    /// Segments per paced burst (`bbr_tso_segs_goal`).
    fn burst(&self, mss: u64) -> u64 {
        let bytes = self.pace.rate.checked_shr(self.pacing_shift).unwrap_or(0);
        (bytes.min(MAX_BURST_BYTES) / mss).max(least_burst(self.pacing_rate()))
    }

    /// Bytes that will be in the network when the next segment may leave, with `in_flight` bytes
    /// unacknowledged now: less the data delivered until then, plus the next burst when probing
    /// upwards (`bbr_packets_in_net_at_edt`). A segment has been delivered when all of it has.
    fn in_network(&self, ack: &Ack, in_flight: u64, windows: &Windows) -> u64 {
        let mss = windows.mss;
        let delivered = bytes_in(self.rate(), ack.next_departure - ack.now) / mss * mss;
        let leaving = if self.pacing_gain() > 1.0 {
            self.burst(mss) * mss
        } else {
            0
        };
        (in_flight + leaving).saturating_sub(delivered)
    }

    fn update_bandwidth(&mut self, ack: &Ack, sample: &RateSample) {
        if self
            .rounds
            .on_sample(sample.prior_delivered, ack.delivered_in_all)
        {
            self.conserving = false;
        }
        let is_cycling = self.mode.is_cycling();
        let moment = Moment {
            now: ack.now,
            delivered: ack.delivered_in_all,
            lost: ack.lost_in_all,
            shows_loss: ack.lost > 0,
            application_limited: sample.application_limited,
            round_start: self.rounds.start,
            is_cycling,
        };
        if self.policed.on_acknowledged(&moment) && is_cycling {
            self.mode = Mode::ProbeBandwidth(Cycle::at(ack.now));
        }
        self.bandwidth.on_sample(
            BANDWIDTH_ROUNDS,
            self.rounds.count,
            sample.bytes_per_second(),
            sample.application_limited,
        );
    }

    fn update_phase(&mut self, ack: &Ack, windows: &Windows) {
        let Mode::ProbeBandwidth(cycle) = self.mode else {
            return;
        };
        let long_enough = self.minimum_rtt.has_passed(cycle.began, ack.now);
        let in_network = || self.in_network(ack, ack.in_flight_before, windows);
        let gain = self.pacing_gain();
        let over = if gain > 1.0 {
            // Until the data in flight exceeds the pipe, or is lost.
            long_enough && (ack.lost > 0 || in_network() >= self.in_flight_at(gain, windows))
        } else if gain < 1.0 {
            long_enough || in_network() <= self.drained(windows)
        } else {
            long_enough
        };
        if over {
            self.mode = Mode::ProbeBandwidth(cycle.next(ack.now));
        }
    }

    fn check_drain(&mut self, ack: &Ack, windows: &mut Windows) {
        if self.mode.is_startup() && self.full.reached {
            self.mode = Mode::Drain;
            windows.ssthresh = self.drained(windows);
        }
        if matches!(self.mode, Mode::Drain) {
            let in_network = self.in_network(ack, ack.in_flight, windows);
            if in_network <= self.drained(windows) {
                self.mode = Mode::ProbeBandwidth(Cycle::at(ack.now));
            }
        }
    }

    fn update_minimum_rtt(&mut self, ack: &Ack, windows: &mut Windows) {
        let expired = self
            .minimum_rtt
            .update(ack.now, ack.rtt, ack.now, minimum_rtt::AGE);
        if expired && !self.idle_restart && !self.is_probing_rtt() {
            self.mode = Mode::ProbeRtt(RttProbe::default());
            self.save_cwnd(windows);
        }
        self.probe_rtt(ack, windows);
        self.idle_restart = false;
    }

    fn probe_rtt(&mut self, ack: &Ack, windows: &mut Windows) {
        let Mode::ProbeRtt(probe) = &mut self.mode else {
            return;
        };
        let window = window::least(windows);
        if !probe.is_over(ack, &mut self.rounds, window) {
            return;
        }
        self.minimum_rtt.at = ack.now;
        self.last_good.restore(windows);
        if self.full.reached {
            self.mode = Mode::ProbeBandwidth(Cycle::at(ack.now));
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn save_cwnd(&mut self, windows: &Windows) {
        self.last_good.save(windows.cwnd, self.is_probing_rtt());
    }

    fn set_pace(&mut self, ack: &Ack, windows: &Windows) {
        self.pace.on_rtt(windows.cwnd, ack.srtt, FIRST_GAIN);
        let (rate, gain) = (self.rate(), self.pacing_gain());
        self.pace.follow(rate, gain, self.full.reached);
    }

    /// In the first round trip of a recovery only as much is sent as is delivered; after it the
    /// earlier window is restored. Returns whether the window is set
    /// (`bbr_set_cwnd_to_recover_or_restore`).
    fn recover(&mut self, ack: &Ack, windows: &mut Windows) -> bool {
        if ack.lost > 0 {
            windows.cwnd = windows.cwnd.saturating_sub(ack.lost).max(windows.mss);
        }
        let before = self.last_good.replace_repair(ack.repairing);
        if ack.repairing == Repairing::FastRecovery && before != Repairing::FastRecovery {
            self.conserving = true;
            self.rounds.restart(ack.delivered_in_all);
            windows.cwnd = (ack.in_flight + ack.delivered).max(windows.mss);
        } else if ack.repairing == Repairing::Nothing && before != Repairing::Nothing {
            self.last_good.restore(windows);
            self.conserving = false;
        }
        if self.conserving {
            windows.cwnd = windows.cwnd.max(ack.in_flight + ack.delivered);
        }
        self.conserving
    }

    fn set_cwnd(&mut self, ack: &Ack, windows: &mut Windows) {
        if ack.delivered > 0 && !self.recover(ack, windows) {
            let rate = self.rate();
            let product = self.minimum_rtt.product(rate);
            let wanted = product.map_or(self.initial, |bytes| scaled(bytes, self.mode.cwnd_gain()));
            // In whole segments each: the product and the excess rounded up, the bound down.
            let mss = windows.mss;
            let aggregated = if self.full.reached {
                let most = bytes_in(rate, MAX_AGGREGATION) / mss;
                self.aggregation.most().div_ceil(mss).min(most)
            } else {
                0
            };
            let target = self.with_quantum((wanted.div_ceil(mss) + aggregated) * mss, windows);
            // The SYN is one of the initial window's packets that are delivered (`tp->delivered`).
            let initial = self.initial.saturating_sub(windows.mss);
            window::approach(target, self.full.reached, initial, ack, windows);
        }
        windows.cwnd = windows.cwnd.min(windows.max);
        if self.is_probing_rtt() {
            windows.cwnd = windows.cwnd.min(window::least(windows));
        }
    }
}

impl Start for Bbr {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self::new(windows, config.pacing_shift)
    }
}

impl Model for Bbr {
    fn demands(&self) -> Demands {
        self.pace.demands(self.is_probing_rtt())
    }

    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        self.minimum_rtt.take_handshake(ack);
        self.rounds.start = false;
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
                self.rounds.start,
            );
        }
        self.update_phase(ack, windows);
        let limited = ack.rate.is_none_or(|sample| sample.application_limited);
        self.full
            .check(self.rounds.start, limited, self.bandwidth.get());
        self.check_drain(ack, windows);
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
        self.policed.on_timeout();
    }

    /// The bandwidth did not grow because the sender slowed down needlessly (`bbr_undo_cwnd`).
    fn on_taken_back(&mut self) {
        self.full.restart();
        let (delivered, lost) = self.told;
        self.policed.reset(self.now, delivered, lost);
    }

    fn on_idle_over(&mut self, now: Instant) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.mode.is_cycling() {
            let rate = self.rate();
            self.pace.resume(rate);
        }
    }
}

#[cfg(test)]
mod tests;

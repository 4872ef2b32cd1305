//! Copa (Arun & Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet",
//! NSDI 2018): the window moves towards the rate 1/(δ × queueing delay), and δ falls where other
//! flows keep the queue full. A loss does not reduce the window.
//!
//! The paper counts packets, each with an acknowledgment; here a step is in proportion to the bytes
//! delivered. It leaves the response to a timeout open: here a slow start.

mod competition;
mod delays;
mod velocity;

use airtcp_units::{BitRate, Duration, Instant};

use super::Ack;
use super::model::{Demands, Model};
use super::rule::Start;
use super::windows::Windows;
use crate::config::Config;
use competition::Competition;
use delays::Delays;
use velocity::{Direction, Velocity};

/// The pace in windows per standing round trip (§2.1): fast enough that the window is the limit.
const PACING_GAIN: u64 = 2;
/// Minimum window, in segments.
const MIN_WINDOW: u64 = 2;
/// Segments that a paced window in full use may lack: a burst that waits for its time, and
/// the acknowledged segment.
const SLACK: u64 = 3;

/// The measured delays, and the parameters of the steps.
#[derive(Clone, Debug)]
pub struct Copa {
    delays: Delays,
    velocity: Velocity,
    competition: Competition,
    /// Whether the window has not yet reached the target rate.
    in_slow_start: bool,
    /// First byte of the next round trip.
    round_ends: u64,
    /// Part of a byte that the window has moved by.
    fraction: f64,
    pacing_rate: BitRate,
}

impl Start for Copa {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self {
            delays: Delays::default(),
            velocity: Velocity::default(),
            competition: Competition::new(config.copa_delta, config.copa_competes),
            in_slow_start: true,
            round_ends: 0,
            fraction: 0.0,
            // A nominal millisecond, until a round trip is known.
            pacing_rate: BitRate::from_bps(windows.cwnd.saturating_mul(8 * 1000 * PACING_GAIN)),
        }
    }
}

impl Copa {
    /// Whether the rate is at most the target (§2.1, step 3):
    /// cwnd/RTTstanding ≤ 1/(δ·d) packets a second.
    #[expect(
        clippy::cast_precision_loss,
        reason = "windows and delays are far below 2^53"
    )]
    fn is_below_target(&self, windows: &Windows) -> bool {
        let queueing = self.delays.queueing().as_nanos() as f64;
        let standing = self.delays.standing().as_nanos() as f64;
        windows.segments() * queueing <= self.competition.inverse_delta() * standing
    }

    /// Whether the window limits the sender: half of it is enough in slow start, as it doubles.
    const fn is_window_used(&self, ack: &Ack, windows: &Windows) -> bool {
        let used = ack.in_flight_before + ack.held_back;
        if self.in_slow_start {
            used >= windows.cwnd / 2
        } else {
            used + SLACK * windows.mss >= windows.cwnd
        }
    }

    /// Moves the window by v/(δ·cwnd) segments for each segment delivered, so by v/δ in a round
    /// trip (§2.1, step 3).
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a window, and its integer part"
    )]
    fn step(&mut self, ack: &Ack, direction: Direction, windows: &mut Windows) {
        if self.velocity.on_step(direction, windows.cwnd) {
            self.round_ends = ack.nxt;
        }
        let delivered = ack.delivered;
        let inverse_delta = self.competition.inverse_delta();
        let velocity = self.velocity.get(windows.segments() / inverse_delta);
        let step = delivered as f64 * velocity * inverse_delta / windows.segments() + self.fraction;
        let whole = step as u64;
        self.fraction = step - whole as f64;
        let least = MIN_WINDOW * windows.mss;
        windows.cwnd = match direction {
            Direction::Up => windows.cwnd.saturating_add(whole).min(windows.max),
            Direction::Down => {
                let least = least.min(windows.cwnd);
                windows.cwnd.saturating_sub(whole).max(least)
            }
        };
    }

    /// Moves the window at an acknowledgment.
    fn set_window(&mut self, ack: &Ack, windows: &mut Windows) {
        let is_below = self.is_below_target(windows);
        if !is_below {
            self.in_slow_start = false;
            self.step(ack, Direction::Down, windows);
        } else if self.is_window_used(ack, windows) {
            if self.in_slow_start {
                windows.cwnd = windows.cwnd.saturating_add(ack.delivered).min(windows.max);
            } else {
                self.step(ack, Direction::Up, windows);
            }
        }
    }

    /// Ends a round trip when data sent after its beginning is acknowledged.
    fn end_round(&mut self, ack: &Ack, windows: &Windows) {
        if ack.una < self.round_ends {
            return;
        }
        self.round_ends = ack.nxt;
        self.competition.on_round();
        if self.in_slow_start {
            self.velocity.restart(windows.cwnd);
        } else {
            self.velocity.on_round(windows.cwnd);
        }
    }
}

/// The pacing rate of a window of `cwnd` bytes per `standing` round trip.
fn pace(cwnd: u64, standing: Duration) -> BitRate {
    let bits = u128::from(cwnd) * u128::from(8 * PACING_GAIN) * 1_000_000_000;
    let rate = bits / u128::from(standing.as_nanos().max(1));
    BitRate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX))
}

impl Model for Copa {
    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        let Some(rtt) = ack.rtt else {
            return;
        };
        self.delays.on_sample(ack.now, rtt, ack.srtt);
        self.competition.on_delays(ack.now, ack.srtt, &self.delays);
        if ack.delivered > 0 {
            self.set_window(ack, windows);
            self.end_round(ack, windows);
        }
        self.pacing_rate = pace(windows.cwnd, self.delays.standing());
    }

    /// Only δ falls, in the competitive mode.
    fn on_loss(&mut self, _windows: &Windows) {
        self.competition.on_loss();
    }

    fn on_timeout(&mut self) {
        self.in_slow_start = true;
        self.fraction = 0.0;
        self.competition.forget();
    }

    /// The path's delays may have changed, and no queue was seen meanwhile.
    fn on_idle_over(&mut self, _now: Instant) {
        self.competition.forget();
    }

    fn demands(&self) -> Demands {
        Demands {
            pacing_rate: self.pacing_rate,
            least_burst: 1,
            is_probing_rtt: false,
        }
    }
}

#[cfg(test)]
mod tests;

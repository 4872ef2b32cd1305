//! Prague (draft-briscoe-iccrg-prague-congestion-control; version 0.7 of its reference,
//! `net/ipv4/tcp_prague.c` of L4STeam/linux): DCTCP for paths shared with others. A moving average
//! of the marked share of data sets the reduction of the window at a mark, unmarked data lets it
//! grow, and round trips below 25 ms count as that, so that neither a short path nor a short queue
//! is an advantage.
//!
//! It needs a peer that counts marks; without one it is Reno (§2.3.1 of the draft). A loss is
//! answered as Reno does. The window has a fraction, which the pace follows; the limit on data in
//! flight is rounded up to whole segments.

use airtcp_units::{Duration, Instant};

use super::reno::Reno;
use super::rule::{Rule, Start};
use super::windows::Windows;
use super::{Ack, Repairing};
use crate::config::Config;

/// Gain of the moving average (§2.3.2: 1/16).
const GAIN: f64 = 1.0 / 16.0;
/// A shorter round trip counts as this (§2.4.4).
const REFERENCE_RTT: Duration = Duration::from_millis(25);
/// Rounds after slow start before that rule applies (Linux, `DEFAULT_RTT_TRANSITION`).
const ROUNDS_BY_OWN_RTT: u32 = 4;
/// Bytes a second that are always allowed (Linux, `MINIMUM_RATE`: 100 kbit/s).
const MIN_RATE: f64 = 12_500.0;
/// Segments that may always be in flight (Linux, `MIN_CWND_RTT`).
const MIN_WINDOW: u64 = 2;

/// The average of marks, and the window with its fraction.
#[derive(Clone, Debug)]
pub struct Prague {
    /// Whether the peer counts marks.
    is_counted: bool,
    reno: Reno,
    /// The window in bytes. In slow start it follows the whole one.
    exact: f64,
    /// The window in force when this rule last saw it: the part removed since was not used.
    seen: u64,
    /// The average share of marks, from 0 to 1.
    alpha: f64,
    /// Whether a mark was ever seen.
    has_seen_mark: bool,
    /// Bytes of this round: delivered, and of those marked.
    delivered: u64,
    marked: u64,
    /// Marked bytes of the acknowledgment being processed.
    newly_marked: u64,
    /// End of the round, time of the average's last update, and rounds since slow start.
    round_ends: u64,
    averaged_at: Instant,
    rounds: u32,
    /// Marks on data below this are answered, and when the last answer was.
    answered_until: Option<u64>,
    answered_at: Option<Instant>,
    reductions: u64,
    srtt: Duration,
    was_in_slow_start: bool,
    /// The window before the last loss.
    before_loss: f64,
}

impl Start for Prague {
    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 bytes"
    )]
    fn start(_config: &Config, windows: &Windows) -> Self {
        Self {
            is_counted: false,
            reno: Reno::default(),
            exact: windows.cwnd as f64,
            seen: windows.cwnd,
            alpha: 0.0,
            has_seen_mark: false,
            delivered: 0,
            marked: 0,
            newly_marked: 0,
            round_ends: 0,
            averaged_at: Instant::ZERO,
            rounds: 0,
            answered_until: None,
            answered_at: None,
            reductions: 0,
            srtt: Duration::ZERO,
            was_in_slow_start: true,
            before_loss: 0.0,
        }
    }
}

impl Prague {
    /// Whether round trips below the reference count as that.
    const fn is_rtt_independent(&self, windows: &Windows) -> bool {
        !windows.in_slow_start() && self.rounds >= ROUNDS_BY_OWN_RTT
    }

    /// Whether a reference round trip has passed since `then`.
    fn is_a_reference_ago(now: Instant, then: Instant) -> bool {
        now - then >= REFERENCE_RTT
    }

    /// Answers a mark (§2.4.2): by half of the average share, at the first mark after both a round
    /// trip and a reference round trip. The first of all, before there is an average, halves the
    /// window and ends slow start.
    ///
    /// That is the rule of `prague_cc.cpp` of L4STeam/udp_prague. In `tcp_prague.c` a mark that
    /// comes after the round trip and before the reference has the connection wait for another
    /// round trip (TCP_CA_CWR): at 21 ms it would answer every 42 ms, and take as much more than
    /// its share.
    fn answer(&mut self, ack: &Ack, windows: &Windows) {
        if !self.has_seen_mark {
            self.has_seen_mark = true;
            self.exact /= 2.0;
            self.reductions += 1;
        }
        let is_answered = self.answered_until.is_some_and(|until| ack.una <= until);
        let waits = self.is_rtt_independent(windows)
            && self
                .answered_at
                .is_some_and(|then| !Self::is_a_reference_ago(ack.now, then));
        if is_answered || waits {
            return;
        }
        self.answered_until = Some(ack.nxt);
        self.answered_at = Some(ack.now);
        self.reductions += u64::from(self.alpha > 0.0);
        let least = MIN_RATE * ack.srtt.as_secs_f64();
        self.exact = (self.exact * (1.0 - self.alpha / 2.0)).max(least);
    }

    /// Ends a round once everything sent in it is acknowledged, and a reference round trip has
    /// passed where that is the longer one: the average moves (§2.3.2).
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 bytes")]
    fn end_round(&mut self, ack: &Ack, windows: &Windows) {
        let waits = self.is_rtt_independent(windows)
            && !Self::is_a_reference_ago(ack.now, self.averaged_at);
        if ack.una < self.round_ends || waits {
            return;
        }
        if self.has_seen_mark {
            let share = self.marked as f64 / self.delivered.max(1) as f64;
            self.alpha = (self.alpha + GAIN * (share - self.alpha)).min(1.0);
            self.averaged_at = ack.now;
        }
        (self.delivered, self.marked) = (0, 0);
        self.round_ends = ack.nxt;
        if !windows.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    /// Factor by which the window grows less if a round trip is shorter than the reference: a
    /// window of the reference's length, which has 1/M times the data, is to grow by a segment in
    /// as many round trips (§2.4.4: 1/M²).
    fn growth(&self, windows: &Windows) -> f64 {
        if !self.is_rtt_independent(windows) || self.srtt >= REFERENCE_RTT {
            return 1.0;
        }
        let share = self.srtt.as_secs_f64() / REFERENCE_RTT.as_secs_f64();
        share * share
    }

    /// Limit on data in flight: the window, rounded up to whole segments.
    fn whole(&self, windows: &Windows) -> u64 {
        let segments = libm::ceil(self.exact / windows.mss as f64);
        windows.whole(segments, MIN_WINDOW).min(windows.max)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 bytes"
    )]
    fn follow(&mut self, windows: &Windows) {
        self.was_in_slow_start = windows.in_slow_start();
        if self.was_in_slow_start {
            self.exact = windows.cwnd as f64;
        } else if windows.cwnd < self.seen {
            self.exact = self.exact.min(windows.cwnd as f64);
        }
    }
}

impl Rule for Prague {
    fn heed_each_mark(&mut self) -> bool {
        self.is_counted = true;
        true
    }

    fn reductions_for_marks(&self) -> u64 {
        self.reductions
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "no window is negative"
    )]
    fn paced_window(&self, windows: &Windows) -> Option<u64> {
        let window = if windows.in_slow_start() {
            windows.cwnd
        } else {
            self.exact as u64
        };
        self.is_counted.then_some(window)
    }

    fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
        if !self.is_counted {
            return;
        }
        self.srtt = ack.srtt;
        self.newly_marked = ack.marked;
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        if ack.repairing != Repairing::Nothing {
            return;
        }
        self.follow(windows);
        if ack.marked > 0 {
            self.answer(ack, windows);
        }
        // Segment by segment, so that a segment is sent for every second one that arrives.
        if windows.cwnd > self.whole(windows) {
            windows.cwnd = (windows.cwnd - windows.mss).max(self.whole(windows));
            windows.ssthresh = windows.cwnd;
        }
        self.end_round(ack, windows);
        self.seen = windows.cwnd;
    }

    /// Grows by the unmarked data, also while a mark is answered (§2.4.3).
    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 bytes"
    )]
    fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
        if !self.is_counted {
            return self.reno.grow(acked, windows);
        }
        if core::mem::take(&mut self.was_in_slow_start) {
            self.exact = windows.cwnd as f64;
        }
        let unmarked = acked.saturating_sub(self.newly_marked) as f64;
        let step = unmarked * windows.mss as f64 / self.exact * self.growth(windows);
        self.exact = (self.exact + step).min(windows.max as f64);
        let room = self.whole(windows).saturating_sub(windows.cwnd);
        let step = room.min(windows.mss);
        self.seen = windows.cwnd + step;
        step
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 bytes"
    )]
    fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
        let threshold = self.reno.threshold(base, windows);
        self.before_loss = self.exact;
        self.exact = threshold as f64;
        threshold
    }

    fn on_timeout(&mut self) {
        self.reno.on_timeout();
    }

    fn on_taken_back(&mut self) {
        self.exact = self.exact.max(self.before_loss);
    }
}

#[cfg(test)]
mod tests;

//! The invariants after every event, and the final verdict.

use std::collections::BTreeMap;

use airtcp_tcp::State;
use airtcp_tcp::config::CongestionControl;
use airtcp_units::{Duration, Instant};

use super::world::{End, World};

/// Time after the last disturbance within which everything must have arrived: several of the
/// longest timeouts (120 s) in a row, plus a transfer through a small window.
const PATIENCE: Duration = Duration::from_secs(1200);
/// A run out of control stops here.
const MAX_EVENTS: u64 = 2_000_000;
/// Events after the last disturbance in a run that cannot complete.
const AFTERMATH: u64 = 3000;
/// Number of answers to answers to answers that one endpoint may give, plus one for each of these
/// intervals (RFC 5961 §7; Linux limits them to one in 500 ms, `tcp_invalid_ratelimit`).
const FREE_ANSWERS: u64 = 16;
const ANSWER_INTERVAL: Duration = Duration::from_millis(250);
/// Payload sent per byte delivered if nothing is lost.
const MAX_SENT_FOR_EACH: u64 = 3;

/// The outcome of a run, for statistics.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub completed: bool,
    pub wounded: bool,
    pub events: u64,
    pub delivered: u64,
    pub sent: u64,
    pub timeouts: u64,
    /// How often each operation was performed.
    pub performed: BTreeMap<&'static str, u64>,
}

impl Outcome {
    pub fn count(&mut self, name: &'static str) {
        *self.performed.entry(name).or_default() += 1;
    }
}

/// An endpoint's answers to packets without data.
#[derive(Clone, Debug)]
pub struct Answers {
    since: Instant,
    deep: u64,
}

impl Answers {
    pub const fn new(now: Instant) -> Self {
        Self {
            since: now,
            deep: 0,
        }
    }

    /// Records that it sends a packet; `depth` packets without data have led to it, each the answer
    /// to the last. A well-behaved pair reaches two: a probe, its answer, and the data that the
    /// answer releases.
    pub fn on_sent(&mut self, now: Instant, depth: u32) {
        if depth < 3 {
            return;
        }
        self.deep += 1;
        let intervals = (now - self.since).as_nanos() / ANSWER_INTERVAL.as_nanos();
        assert!(
            self.deep <= FREE_ANSWERS + intervals,
            "storm: both ends answer each other, {} acknowledgments of acknowledgments",
            self.deep
        );
    }
}

impl World<'_> {
    /// Checks the invariants that hold at any instant on any network.
    pub fn check(&self) {
        assert!(self.events < MAX_EVENTS, "no end after {MAX_EVENTS} events");
        for (which, end) in self.ends.iter().enumerate() {
            check_sender(which, end);
            let receiver = end.connection.receiver();
            assert!(receiver.received() >= end.read);
            assert!(receiver.received() <= receiver.next_expected());
            // A FIN takes no room.
            let room = end.read + end.config.receive_buffer + 1;
            assert!(
                receiver.acceptable().end <= room,
                "end {which} announced more than it has"
            );
            if !self.wounded {
                let (next, prefix) = (receiver.next_expected(), end.witness.prefix());
                assert!(
                    next <= prefix,
                    "end {which} takes {next} bytes, {prefix} arrived"
                );
                assert!(end.read <= self.ends[1 - which].written);
            }
        }
    }

    pub fn patience_ends(&self) -> Instant {
        let calm = self.calm_at.unwrap_or(self.now);
        let windows = (0..2).map(|end| self.time_of_windows(end)).max();
        calm.max(self.silent_until) + PATIENCE + windows.unwrap_or(Duration::ZERO)
    }

    /// Time that an endpoint takes which may never have more than a few segments in flight: a round
    /// trip for each window, plus the delay of an acknowledgment, which a lone segment meets.
    fn time_of_windows(&self, end: usize) -> Duration {
        let (this, peer) = (&self.ends[end], &self.ends[1 - end]);
        let segments = this.config.max_window;
        let Some(segments) = segments.or(least_window(this.config.congestion)) else {
            return Duration::ZERO;
        };
        let window = u64::from(segments.max(1)) * this.connection.sender().mss();
        let round_trip = self.plan.delays[0] + self.plan.delays[1];
        (round_trip + peer.config.delayed_ack.timeout) * this.application.bytes.div_ceil(window)
    }

    /// Whether a run that cannot complete has lasted long enough.
    pub fn is_over(&self) -> bool {
        let dead = self
            .ends
            .iter()
            .all(|end| end.connection.state() == State::Closed);
        let calm = self.calm_at.is_some() && self.events > self.calm_from + AFTERMATH;
        self.wounded && (dead || calm)
    }

    /// Judges a completed run: everything arrived, or it could not.
    pub fn conclude(mut self) -> Outcome {
        if !self.wounded {
            assert!(
                self.is_done(),
                "stall at {:?}: {}",
                self.now,
                self.describe()
            );
            self.check_efficiency();
            self.come_to_rest();
        }
        let mut outcome = self.outcome;
        outcome.completed = !self.wounded;
        outcome.wounded = self.wounded;
        outcome.events = self.events;
        for end in &self.ends {
            outcome.delivered += end.read;
            outcome.sent += end.witness.payload_sent;
            outcome.timeouts += end.connection.sender().counters().timeouts;
        }
        outcome
    }

    fn check_efficiency(&self) {
        if !self.plan.loses_nothing() {
            return;
        }
        for end in &self.ends {
            let timeout = &end.config.timeout;
            // A timer shorter than a round trip sends everything twice.
            let patient = timeout.min >= Duration::from_millis(200) && timeout.back_off;
            let (sent, written) = (end.witness.payload_sent, end.application.bytes);
            let most = MAX_SENT_FOR_EACH * written + 10 * u64::from(end.config.mss);
            assert!(
                !patient || sent <= most,
                "wasteful: {sent} bytes sent to deliver {written}"
            );
        }
    }

    /// Checks that completed connections stay quiet: TIME-WAIT ends, and nothing more is sent.
    fn come_to_rest(&mut self) {
        // Packets in flight when both are done still arrive, and are answered with a reset.
        let most = self.events + 3 * self.queue.len() as u64 + AFTERMATH;
        while let Some(next) = self.next_instant() {
            self.advance(next);
            self.check();
            assert!(self.events < most, "no rest: {}", self.describe());
        }
        for end in &self.ends {
            assert_eq!(end.connection.state(), State::Closed, "{}", self.describe());
        }
    }

    pub fn describe(&self) -> String {
        let end = |which: usize| {
            let end = &self.ends[which];
            let sender = end.connection.sender();
            format!(
                "end {which} {:?} {:?} una {} nxt {} written {} of {} edge {} cwnd {} {:?}, \
                 read {}, next wake-up {:?}",
                end.connection.state(),
                end.connection.end(),
                sender.una(),
                sender.nxt(),
                sender.written(),
                end.application.bytes,
                sender.right_edge(),
                sender.cwnd(),
                sender.phase(),
                end.read,
                end.connection.next_wakeup(),
            )
        };
        format!("{}; {}", end(0), end(1))
    }
}

/// Window, in segments, at which a control may stay on an empty path: Verus ends each slow start at
/// a delay of half a second, and Sprout after a timeout awaits forecasts that may never come.
const fn least_window(control: CongestionControl) -> Option<u32> {
    match control {
        CongestionControl::Verus | CongestionControl::Sprout => Some(1),
        _ => None,
    }
}

fn check_sender(which: usize, end: &End) {
    let sender = end.connection.sender();
    let outstanding = sender.nxt() - sender.una();
    assert!(sender.una() <= sender.nxt());
    assert!(sender.nxt() <= sender.written() + u64::from(sender.is_closed()));
    // Each outstanding byte is in flight at most twice: first, and retransmitted (RFC 6675 §4).
    assert!(
        sender.in_flight() <= 2 * outstanding,
        "end {which} counts more than there is in flight"
    );
    assert!(
        sender.cwnd() >= sender.mss() && sender.mss() >= 1,
        "cwnd {}",
        sender.cwnd()
    );
    // A peer's MSS is assumed to be at least 48, options included (Linux, `tcp_min_snd_mss`).
    assert!(
        sender.mss() >= u64::from(end.config.mss.min(36)),
        "MSS {}",
        sender.mss()
    );
    let timeout = &end.config.timeout;
    assert!(
        (timeout.min..=timeout.max).contains(&sender.rto()),
        "RTO {:?}",
        sender.rto()
    );
    let counters = sender.counters();
    assert!(counters.segments_retransmitted <= counters.segments_sent);
    assert!(counters.timeouts_judged_spurious <= counters.timeouts);
    let state = end.connection.state();
    if matches!(state, State::Closed | State::Listen | State::TimeWait) {
        return;
    }
    let unfinished = sender.una() < sender.written() + u64::from(sender.is_closed());
    let waits = unfinished || state == State::SynSent || state == State::SynReceived;
    assert!(
        !waits || end.connection.next_wakeup() < Instant::FAR_FUTURE,
        "no timer: end {which} has data in {state:?}: una {} nxt {} written {} \
         edge {} cwnd {} {:?}",
        sender.una(),
        sender.nxt(),
        sender.written(),
        sender.right_edge(),
        sender.cwnd(),
        sender.phase(),
    );
}

//! Tail loss probe (RFC 8985 §7): when nothing is heard for two round trips, one segment is sent so
//! that the answer shows by SACK what is missing, instead of waiting for the timeout.

use airtcp_units::{Duration, Instant};

use super::timers::Timer;
use super::{Before, Sender, Transmission};
use crate::config::Config;
use crate::observer::{Event, Observer};
use crate::rtt::RttEstimator;

/// The least a timer that is not the retransmission timer waits, so that it does not run out
/// between two acknowledgments of a train (RFC 8985 §7.2; Linux, `TCP_TIMEOUT_MIN_US`).
pub(super) const SHORTEST: Duration = Duration::from_millis(2);

/// A probe that is not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unanswered {
    /// End of what was outstanding when it was sent (`TLP.end_seq`).
    end: u64,
    /// Whether it repeated a segment (`TLP.is_retrans`).
    resent: bool,
}

/// The probe of the tail under way, if tails are probed; boxed, as only some stacks do.
#[derive(Clone, Debug)]
pub(super) struct TailProbe(Option<Box<Probing>>);

#[derive(Clone, Debug)]
struct Probing {
    initial_rto: Duration,
    /// The longest an acknowledgment may be delayed.
    delay: Duration,
    unanswered: Option<Unanswered>,
    due: bool,
}

/// What an acknowledgment says of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Nothing, or nothing that costs anything.
    Nothing,
    /// Something was lost, and the probe has repaired it in silence (RFC 8985 §7.4.2).
    Repaired,
}

impl TailProbe {
    /// `enabled`: tails are probed.
    pub fn new(config: &Config, enabled: bool) -> Self {
        Self(enabled.then(|| {
            Box::new(Probing {
                initial_rto: config.timeout.initial,
                delay: config.timeout.min,
                unanswered: None,
                due: false,
            })
        }))
    }

    #[inline]
    pub const fn is_enabled(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a probe waits for its answer.
    #[inline]
    pub fn is_unanswered(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|probing| probing.unanswered.is_some())
    }

    /// Whether a probe is to leave now.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|probing| probing.due)
    }

    /// A loss was found: the answer to a probe says nothing more.
    pub fn forget(&mut self) {
        if let Some(probing) = &mut self.0 {
            probing.unanswered = None;
        }
    }

    /// The timer expired: no probe goes before the retransmission.
    pub fn call_off(&mut self) {
        self.forget();
        self.set_due(false);
    }

    fn set_due(&mut self, due: bool) {
        if let Some(probing) = &mut self.0 {
            probing.due = due;
        }
    }

    /// A probe has left; `end` and `resent`: see [`Unanswered`].
    fn on_sent(&mut self, end: u64, resent: bool) {
        if let Some(probing) = &mut self.0 {
            probing.unanswered = Some(Unanswered { end, resent });
        }
    }

    /// How long after the last news the probe leaves, with `segments` outstanding: two round trips,
    /// and where a delayed acknowledgment may be waited for as long as that may take
    /// (RFC 8985 §7.2).
    fn wait(&self, estimator: &RttEstimator, segments: usize) -> Option<Duration> {
        let probing = self.0.as_ref()?;
        Some(match estimator.srtt() {
            None => probing.initial_rto,
            Some(srtt) if segments == 1 => srtt * 2 + probing.delay,
            Some(srtt) => srtt * 2 + SHORTEST,
        })
    }

    /// What an acknowledgment of everything below `una` says (RFC 8985 §7.4). `twice`: it reports
    /// the probe as a duplicate; `silent`: it brings no news at all.
    fn judge(&mut self, una: u64, twice: bool, silent: bool) -> Verdict {
        let Some(probe) = self.0.as_ref().and_then(|probing| probing.unanswered) else {
            return Verdict::Nothing;
        };
        if una < probe.end || !(!probe.resent || twice || una > probe.end || silent) {
            return Verdict::Nothing;
        }
        self.forget();
        if probe.resent && !twice && una > probe.end {
            // One copy was needed.
            Verdict::Repaired
        } else {
            Verdict::Nothing
        }
    }
}

impl Sender {
    /// Whether the silence of what is outstanding is one of a tail.
    pub(super) fn may_probe_tail(&self) -> bool {
        self.tail_probe.is_enabled()
            && self.repair.is_open()
            && self.board.sacked() == 0
            && !self.board.is_empty()
    }

    /// Arms the probe's timer, never later than the retransmission timer would run out: `no_later`
    /// from now, unless that is over.
    pub(super) fn arm_tail_probe(&mut self, now: Instant, no_later: Duration) {
        let segments = self.board.len();
        let Some(wait) = self.tail_probe.wait(self.timeout.estimator(), segments) else {
            return;
        };
        let wait = if no_later > Duration::ZERO {
            wait.min(no_later)
        } else {
            wait
        };
        self.timers.arm(Timer::TailProbe, now + wait);
    }

    /// The probe's time has come.
    pub(super) fn on_tail_probe_timer(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.tail_probe.is_unanswered() || self.is_shut() {
            // One a tail (RFC 8985 §7.3).
            self.resume_retransmission_timer(now);
        } else {
            self.tail_probe.set_due(true);
            let offset = self.space.nxt();
            observer.event(now, Event::TailProbe { offset });
        }
    }

    /// The probe: new data if there is any and the peer has room, whatever the congestion window
    /// says, else the last segment again (RFC 8985 §7.3).
    pub(super) fn poll_tail_probe(&mut self, now: Instant) -> Option<Transmission> {
        self.tail_probe.set_due(false);
        let new = self.poll_new(now, 0, u64::MAX);
        let resent = new.is_none();
        let probe = match new {
            Some(new) => Some(new),
            None => self
                .board
                .len()
                .checked_sub(1)
                .map(|last| self.resend(last, now)),
        };
        if probe.is_some() {
            self.counters.tail_probes.add();
            self.tail_probe.on_sent(self.space.nxt(), resent);
        }
        // What runs after a probe is the retransmission timer, from now.
        self.run_retransmission_timer(now);
        probe
    }

    /// What an acknowledgment says of the probe.
    pub(super) fn judge_tail_probe(
        &mut self,
        now: Instant,
        before: &Before,
        twice: bool,
        silent: bool,
        observer: &mut impl Observer,
    ) {
        let verdict = self.tail_probe.judge(self.space.una(), twice, silent);
        if verdict == Verdict::Repaired {
            self.congestion.on_loss(before.in_flight, None);
            self.congestion.settle();
            self.counters.losses_repaired_by_probes.add();
            observer.event(now, Event::LossRepairedByProbe);
        }
    }
}

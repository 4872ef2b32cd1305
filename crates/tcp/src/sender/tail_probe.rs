//! Tail loss probe (RFC 8985 §7): after two silent round trips, one segment is sent so that its
//! SACK reveals missing data, instead of waiting for the timeout.

use alloc::boxed::Box;
use core::ops::Range;

use airtcp_units::{Duration, Instant};

use super::counters::Count;
use super::timers::Timer;
use super::{Before, Sender, Transmission};
use crate::config::Config;
use crate::observer::{Event, Observer};
use crate::rtt::RttEstimator;

/// Minimum wait of any timer other than the retransmission timer, so that it does not expire
/// between two acknowledgments of a train (RFC 8985 §7.2; Linux, `TCP_TIMEOUT_MIN_US`).
pub(super) const MIN: Duration = Duration::from_millis(2);

/// An unanswered probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unanswered {
    /// End of the data outstanding when it was sent (`TLP.end_seq`).
    end: u64,
    /// Whether it was a retransmission (`TLP.is_retrans`).
    resent: bool,
}

/// The current tail's probe, if tails are probed; boxed, as only some stacks do so.
#[derive(Clone, Debug)]
pub(super) struct TailProbe(Option<Box<Probing>>);

#[derive(Clone, Debug)]
struct Probing {
    initial_rto: Duration,
    /// Maximum delay of an acknowledgment.
    delay: Duration,
    unanswered: Option<Unanswered>,
    due: bool,
    /// Whether tails are probed before the timer expires.
    tails: bool,
    /// Number of probes that a timeout still has to send.
    at_timeout: u8,
    /// Whether nothing was delivered since a timeout.
    silent: bool,
    /// Probes of the tail sent, and losses that probes have repaired.
    probes: Count,
    repairs: Count,
}

/// The conclusion that an acknowledgment allows about a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// No conclusion, or no loss.
    Nothing,
    /// Something was lost, and the probe has silently repaired it (RFC 8985 §7.4.2).
    Repaired,
}

impl TailProbe {
    /// `tails`: they are probed; `at_timeout`: a timeout sends probes.
    pub fn new(config: &Config, tails: bool, at_timeout: bool) -> Self {
        Self((tails || at_timeout).then(|| {
            Box::new(Probing {
                initial_rto: config.timeout.initial,
                delay: config.timeout.min,
                unanswered: None,
                due: false,
                tails,
                at_timeout: 0,
                silent: false,
                probes: Count::default(),
                repairs: Count::default(),
            })
        }))
    }

    /// Counts a probe of the tail.
    fn count_probe(&mut self) {
        if let Some(probing) = &mut self.0 {
            probing.probes.add();
        }
    }

    /// Counts a loss revealed only by the probe that repaired it.
    pub fn count_repair(&mut self) {
        if let Some(probing) = &mut self.0 {
            probing.repairs.add();
        }
    }

    /// Probes of the tail sent, and losses that probes have repaired.
    pub fn counts(&self) -> (u64, u64) {
        self.0.as_ref().map_or((0, 0), |probing| {
            (probing.probes.into(), probing.repairs.into())
        })
    }

    /// Whether tails are probed before the timer expires.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.0.as_ref().is_some_and(|probing| probing.tails)
    }

    /// Whether a probe is unanswered.
    #[inline]
    pub fn is_unanswered(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|probing| probing.unanswered.is_some())
    }

    /// Whether a reported duplicate of one segment is the copy of an unanswered probe.
    pub fn is_copy(&self, range: &Range<u64>, mss: u64) -> bool {
        let probe = self.0.as_ref().and_then(|probing| probing.unanswered);
        probe.is_some_and(|probe| range.end == probe.end && range.end - range.start <= mss)
    }

    /// Whether a probe should leave now.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|probing| probing.due || probing.at_timeout > 0)
    }

    /// Whether it is one that a timeout sends.
    #[inline]
    pub fn is_due_at_timeout(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|probing| probing.at_timeout > 0)
    }

    /// Makes `probes` due: the timer has expired.
    pub fn send_at_timeout(&mut self, probes: u8) {
        if let Some(probing) = &mut self.0 {
            probing.at_timeout = probes;
            probing.silent = true;
        }
    }

    /// Takes note of a delivery. Returns whether it is the first since a timeout.
    pub fn take_sent_at_timeout(&mut self) -> bool {
        self.0
            .as_mut()
            .is_some_and(|probing| core::mem::take(&mut probing.silent))
    }

    /// Records that one of them was polled for.
    pub fn on_polled_at_timeout(&mut self) {
        if let Some(probing) = &mut self.0 {
            probing.at_timeout = probing.at_timeout.saturating_sub(1);
        }
    }

    /// Forgets the probe: a loss was found, and its answer carries no more information.
    pub fn forget(&mut self) {
        if let Some(probing) = &mut self.0 {
            probing.unanswered = None;
        }
    }

    /// Calls the probe off: the timer expired, and the retransmission takes its place.
    pub fn call_off(&mut self) {
        self.forget();
        self.set_due(false);
        if let Some(probing) = &mut self.0 {
            probing.at_timeout = 0;
        }
    }

    fn set_due(&mut self, due: bool) {
        if let Some(probing) = &mut self.0 {
            probing.due = due;
        }
    }

    /// Records that a probe has left; `end` and `resent`: see [`Unanswered`].
    fn on_sent(&mut self, end: u64, resent: bool) {
        if let Some(probing) = &mut self.0 {
            probing.unanswered = Some(Unanswered { end, resent });
        }
    }

    /// Time from the last news to the probe, with `segments` outstanding: two round trips, plus the
    /// longest delay of an acknowledgment if one may be delayed (RFC 8985 §7.2).
    fn wait(&self, estimator: &RttEstimator, segments: usize) -> Option<Duration> {
        let probing = self.0.as_ref()?;
        Some(match estimator.srtt() {
            None => probing.initial_rto,
            Some(srtt) if segments == 1 => srtt * 2 + probing.delay,
            Some(srtt) => srtt * 2 + MIN,
        })
    }

    /// Draws the conclusion from an acknowledgment of everything below `una` (RFC 8985 §7.4).
    /// `twice`: it reports the probe as a duplicate; `silent`: it brings no news at all.
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
    /// Whether the outstanding data is a tail that may be probed.
    pub(super) fn may_probe_tail(&self) -> bool {
        self.tail_probe.is_enabled()
            && self.repair.is_open()
            && self.board.sacked() == 0
            && !self.board.is_empty()
    }

    /// Arms the probe's timer, to expire no later than the retransmission timer would: `no_later`
    /// from now, unless that has passed.
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

    /// Handles the expiry of the probe's timer.
    pub(super) fn on_tail_probe_timer(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.tail_probe.is_unanswered() || self.is_shut() {
            // One per tail (RFC 8985 §7.3).
            self.resume_retransmission_timer(now);
        } else {
            self.tail_probe.set_due(true);
            let offset = self.space.nxt();
            observer.event(now, Event::TailProbe { offset });
        }
    }

    /// Returns the probe: new data if there is any and the peer has room, regardless of the
    /// congestion window, else the last segment once more (RFC 8985 §7.3).
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
            self.tail_probe.count_probe();
            self.tail_probe.on_sent(self.space.nxt(), resent);
        }
        // After a probe the retransmission timer runs, starting now.
        self.run_retransmission_timer(now);
        probe
    }

    /// Draws the conclusion about the probe from an acknowledgment.
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
            self.tail_probe.count_repair();
            observer.event(now, Event::LossRepairedByProbe);
        }
    }
}

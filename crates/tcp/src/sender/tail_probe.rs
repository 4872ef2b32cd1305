//! Tail loss probe (RFC 8985 §7): when nothing is heard for two round trips, one segment is sent so that
//! the answer shows by SACK what is missing, instead of waiting for the timeout.

use airtcp_units::Instant;

use super::{Before, Sender, Transmission};
use crate::observer::{Event, Observer};

/// A probe that is not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TailProbe {
    /// End of what was outstanding when it was sent (`TLP.end_seq`).
    end: u64,
    /// Whether it repeated a segment (`TLP.is_retrans`).
    resent: bool,
}

impl Sender {
    /// The probe's time has come.
    pub(super) fn on_tail_probe_timer(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.tail_probe.is_some() || self.is_shut() {
            // One a tail (RFC 8985 §7.3).
            self.restart_retransmission_timer(now);
        } else {
            self.tail_probe_due = true;
            observer.event(now, Event::TailProbe { offset: self.nxt });
        }
    }

    /// The probe: new data if there is any and the peer has room, whatever the congestion window
    /// says, else the last segment again (RFC 8985 §7.3).
    pub(super) fn poll_tail_probe(&mut self, now: Instant) -> Option<Transmission> {
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
            self.counters.tail_probes += 1;
            self.tail_probe = Some(TailProbe {
                end: self.nxt,
                resent,
            });
        }
        // From now: what runs after a probe is the retransmission timer.
        self.pending = super::Pending::Retransmission;
        self.restart_retransmission_timer(now);
        probe
    }

    /// What an acknowledgment says of the probe (RFC 8985 §7.4). `answered_twice`: it reports the probe
    /// as a duplicate; `silent`: it brings no news at all.
    pub(super) fn judge_tail_probe(
        &mut self,
        now: Instant,
        before: &Before,
        answered_twice: bool,
        silent: bool,
        observer: &mut impl Observer,
    ) {
        let Some(probe) = self.tail_probe else {
            return;
        };
        if self.una < probe.end {
            return;
        }
        let over = !probe.resent || answered_twice || self.una > probe.end || silent;
        if !over {
            return;
        }
        self.tail_probe = None;
        if probe.resent && !answered_twice && self.una > probe.end {
            // One copy was needed: something was lost, and the probe has repaired it in silence
            // (RFC 8985 §7.4.2).
            self.congestion.on_loss(before.in_flight, None);
            self.congestion.settle();
            self.counters.losses_repaired_by_probes += 1;
            observer.event(now, Event::LossRepairedByProbe);
        }
    }
}

//! QUIC's probe timeout (RFC 9002 §6.2): when nothing is acknowledged for a timeout, two segments
//! leave, and the window stays. Their acknowledgment shows the losses.

use airtcp_units::{Duration, Instant};

use super::{Before, Sender, Transmission};
use crate::config::Retransmission;
use crate::observer::{Event, Observer};

/// Number of segments sent at a timeout (§6.2.4: one or two).
const PROBES: u8 = 2;
/// Number of timeouts between the first and the last of transmissions that are all lost beyond
/// which congestion is persistent (§7.6.1, `kPersistentCongestionThreshold`).
const PERSISTENT: u64 = 3;
/// The least window, in segments (§7.2, `kMinimumWindow`).
const MIN_WINDOW: u64 = 2;

impl Sender {
    /// Whether a timeout only sends probes.
    #[inline]
    pub(super) fn probes_at_timeout(&self) -> bool {
        self.choices.retransmission == Retransmission::Probe
    }

    /// Handles the expiry of the timer. Returns false if the receiver has dropped data that it had
    /// SACKed: no acknowledgment of a probe would show that (RFC 2018 §8).
    pub(super) fn on_probe_timeout(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        let Some(front) = self.board.front().filter(|front| !front.is_sacked()) else {
            return false;
        };
        if self.extras.departures().is_some() && self.waits_in_driver(now, 0) {
            return true;
        }
        observer.event(
            now,
            Event::Timeout {
                offset: front.start,
                transmissions: front.transmissions.into(),
                rto: self.timeout.rto(),
            },
        );
        self.counters.timeouts.add();
        let expiries = self.board.on_expiry(0);
        self.on_path_silent(expiries);
        self.round_trips.forget();
        self.timeout.on_expiry();
        self.tail_probe.send_at_timeout(PROBES);
        self.run_retransmission_timer(now);
        true
    }

    /// Returns a probe, whatever the congestion window: new data, else what is lost, else the
    /// segment sent longest ago (§6.2.4).
    pub(super) fn poll_timeout_probe(&mut self, now: Instant) -> Option<Transmission> {
        self.tail_probe.on_polled_at_timeout();
        if let Some(new) = self.poll_new(now, 0, u64::MAX) {
            return Some(new);
        }
        let oldest = || {
            let segments = self.board.iter().zip(0..);
            let silent = segments.filter(|(segment, _)| !segment.is_sacked());
            let oldest = silent.min_by_key(|(segment, _)| (segment.sent_at, segment.start));
            // All have just been sent once more.
            oldest.filter(|(segment, _)| segment.sent_at < now)
        };
        let oldest = oldest().map(|(_, index)| index);
        let index = self.board.next_lost().or(oldest)?;
        Some(self.resend(index, now))
    }

    /// Takes a delivery, which ends the backoff (§6.2.1), and notes the outage that it ends, if it
    /// follows a probe, or so long a silence that congestion may be persistent.
    pub(super) fn on_probed_delivery(&mut self, now: Instant) {
        let probed = self.tail_probe.take_sent_at_timeout();
        if probed || self.was_silent() {
            let una = self.space.una();
            self.detection
                .note_outage(now, &self.board, una, &self.timeout);
        }
        self.timeout.forget_expiries();
    }

    /// Whether the delivered segment left so long after the last one delivered before.
    fn was_silent(&self) -> bool {
        let newest = self.board.delivery().and_then(|delivery| delivery.latest);
        let silence = self.detection.delivered_until();
        matches!((newest, silence), (Some(newest), Some(before))
            if newest.sent_at > before + self.persistent_congestion())
    }

    /// The duration of persistent congestion (§7.6.1).
    fn persistent_congestion(&self) -> Duration {
        self.timeout.backed_off(0) * PERSISTENT
    }

    /// Draws the conclusions from an outage that this acknowledgment has ended, once its losses are
    /// found: a loss that only a probe has repaired reduces the window as any other does, and
    /// persistent congestion reduces it to the least (§7.6.2).
    pub(super) fn judge_outage(&mut self, before: &Before) {
        let Some(outage) = self.detection.take_outage() else {
            return;
        };
        if outage.replaced.is_some() && self.is_another_event(outage.replaced) {
            self.congestion.on_loss(before.in_flight, None);
            self.congestion.settle();
            self.tail_probe.count_repair();
        }
        if outage.lasted > self.persistent_congestion() {
            self.congestion.on_timeout(0, false);
            self.congestion
                .set_after_timeout(MIN_WINDOW * self.congestion.mss());
            if let Some(recovery) = self.repair.fast_mut() {
                recovery.end_period();
            }
        }
    }
}

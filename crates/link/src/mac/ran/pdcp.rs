//! Order of packets at the receiver (TS 38.323 §5.2.2.2): NR's RLC delivers packets as they are
//! complete, and PDCP holds those after a missing one until `t-Reordering` expires. LTE's RLC has
//! ordered them already.

use airtcp_units::{Duration, Instant};

use crate::mac::resequencer::{Handover, Resequencer};

/// The receiving side of PDCP.
#[derive(Clone, Debug)]
pub(super) struct Reordering {
    packets: Resequencer<u64>,
    timer: Duration,
    /// The number after the highest that had arrived when the timer began, RX_REORD, and its
    /// expiry.
    gap: Option<(u64, Instant)>,
    /// The number after the highest that has arrived, RX_NEXT.
    highest: u64,
}

impl Reordering {
    pub(super) const fn new(timer: Duration) -> Self {
        Self {
            packets: Resequencer::new(Handover::InOrder),
            timer,
            gap: None,
            highest: 0,
        }
    }

    /// Packet `number` (COUNT) has arrived; `false` if it is late, and discarded.
    pub(super) fn on_packet(&mut self, now: Instant, number: u64) -> bool {
        if number < self.packets.expected() {
            return false;
        }
        self.highest = self.highest.max(number + 1);
        self.packets.on_arrived(number, number);
        self.watch_gap(now);
        true
    }

    /// The next packet to deliver.
    pub(super) fn take(&mut self) -> Option<u64> {
        self.packets.take()
    }

    /// Expiry of `t-Reordering`: nothing before the packets that had arrived is waited for.
    pub(super) fn on_time(&mut self, now: Instant) {
        if let Some((trigger, expires)) = self.gap
            && expires <= now
        {
            self.gap = None;
            self.packets.advance(trigger);
            self.watch_gap(now);
        }
    }

    /// Whether it holds packets.
    pub(super) const fn is_waiting(&self) -> bool {
        self.gap.is_some()
    }

    fn watch_gap(&mut self, now: Instant) {
        let expected = self.packets.expected();
        if self.gap.is_some_and(|(trigger, _)| trigger <= expected) {
            self.gap = None;
        }
        if self.gap.is_none() && self.highest > expected {
            self.gap = Some((self.highest, now + self.timer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMER: Duration = Duration::from_millis(50);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn taken(reordering: &mut Reordering) -> Vec<u64> {
        std::iter::from_fn(|| reordering.take()).collect()
    }

    /// TS 38.323 §5.2.2.2: the timer holds for the packets that had arrived when it began; a later
    /// gap waits for one that begins at its expiry.
    #[test]
    fn a_missing_packet_is_waited_for_once() {
        let mut reordering = Reordering::new(TIMER);
        reordering.on_packet(at(0), 0);
        reordering.on_packet(at(1), 2);
        reordering.on_packet(at(20), 4);
        assert_eq!(taken(&mut reordering), [0]);
        reordering.on_time(at(50));
        assert!(taken(&mut reordering).is_empty());
        reordering.on_time(at(51));
        assert_eq!(taken(&mut reordering), [2]);
        assert!(reordering.is_waiting());
        reordering.on_packet(at(60), 3);
        assert_eq!(taken(&mut reordering), [3, 4]);
        assert!(!reordering.is_waiting());
    }

    #[test]
    fn a_late_packet_is_discarded() {
        let mut reordering = Reordering::new(TIMER);
        reordering.on_packet(at(0), 1);
        reordering.on_time(at(50));
        assert!(!reordering.on_packet(at(60), 0));
        reordering.on_packet(at(61), 2);
        assert_eq!(taken(&mut reordering), [1, 2]);
    }
}

//! Proportional rate reduction (RFC 6937, and its successor RFC 9937): in recovery the data sent is
//! the data delivered times the reduction, so that the window reaches its target when the recovery
//! ends; and no more than slow start would send if the network has emptied below that.

/// The sums of one recovery, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProportionalRate {
    /// Bytes in flight when the recovery began (`RecoverFS`; Linux takes the window).
    flight: u64,
    /// Delivered since then (`prr_delivered`).
    delivered: u64,
    /// Sent since then (`prr_out`).
    sent: u64,
    bound: Bound,
    /// Whether the current acknowledgment shows that a retransmission was lost.
    retransmission_lost: bool,
}

/// The bound on data sent below the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// By all data delivered and not sent, and one segment more if that is safe.
    SlowStart,
    /// By the data delivered by the last acknowledgment, unless it is safe (Linux before
    /// 9ad084d66619, "tcp: improve PRR loss recovery", of 5.19); safe is another condition (before
    /// 7e901ee7b6ab, "tcp: avoid slow start during fast recovery on new losses", of 5.14).
    Conservation,
}

/// The progress made by one acknowledgment in recovery.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Bytes newly delivered.
    pub delivered: u64,
    /// Bytes in flight after it.
    pub in_flight: u64,
    /// Whether losses have stopped, and slow start is safe: the cumulative acknowledgment moved and
    /// no further loss was found (RFC 9937 §6, `SafeACK`), or the condition of
    /// [`Bound::Conservation`].
    pub safe: bool,
}

impl ProportionalRate {
    /// Creates the state of a recovery that begins with a window of `flight` bytes.
    #[must_use]
    pub const fn new(flight: u64, bound: Bound) -> Self {
        Self {
            flight,
            delivered: 0,
            sent: 0,
            bound,
            retransmission_lost: false,
        }
    }

    /// Records that the current acknowledgment shows a retransmission to be lost.
    pub const fn on_retransmission_lost(&mut self) {
        self.retransmission_lost = true;
    }

    /// Whether slow start is safe after an acknowledgment that advances: `resent`, it acknowledges
    /// data that was sent more than once; `lost`, more was found lost.
    #[must_use]
    pub const fn is_safe(&self, resent: bool, lost: bool) -> bool {
        match self.bound {
            Bound::SlowStart => !lost,
            Bound::Conservation => resent && !self.retransmission_lost,
        }
    }

    /// Records bytes sent.
    pub const fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Returns the window after an acknowledgment (RFC 6937 §3, with the sum rounded up to whole
    /// segments as Linux counts them).
    #[must_use]
    pub fn on_acknowledged(&mut self, progress: &Progress, ssthresh: u64, mss: u64) -> u64 {
        let Progress {
            delivered,
            in_flight,
            safe,
        } = *progress;
        self.delivered += delivered;
        self.retransmission_lost = false;
        let allowed = if in_flight > ssthresh {
            // CEIL(prr_delivered × ssthresh/RecoverFS) − prr_out
            let share = u128::from(ssthresh) * u128::from(self.delivered);
            let share = share.div_ceil(u128::from(self.flight.max(1)));
            let share = u64::try_from(share).unwrap_or(u64::MAX);
            share
                .div_ceil(mss)
                .saturating_mul(mss)
                .saturating_sub(self.sent)
        } else {
            let owed = self.delivered.saturating_sub(self.sent).max(delivered);
            let most = match (safe, self.bound) {
                (true, _) => owed + mss,
                (false, Bound::SlowStart) => owed,
                (false, Bound::Conservation) => delivered,
            };
            most.min(ssthresh - in_flight)
        };
        // The first retransmission leaves regardless of the sums.
        let least = if self.sent == 0 { mss } else { 0 };
        in_flight + allowed.max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// RFC 6937 §4, the example of a single loss with 20 segments in flight and ssthresh 10: one
    /// segment leaves for every two acknowledged, so that 10 are in flight when the recovery ends.
    /// `X` is the retransmission, then new data.
    #[test]
    fn sends_one_segment_for_two_delivered() {
        let mut rate = ProportionalRate::new(20 * MSS, Bound::SlowStart);
        // Three duplicates have arrived: three of the 20 delivered, one lost.
        let mut in_flight = 16 * MSS;
        let mut sent = Vec::new();
        for ack in 0..17 {
            let delivered = if ack == 0 { 3 * MSS } else { MSS };
            in_flight -= if ack == 0 { 0 } else { MSS };
            let progress = Progress {
                delivered,
                in_flight,
                safe: false,
            };
            let cwnd = rate.on_acknowledged(&progress, 10 * MSS, MSS);
            let segments = (cwnd - in_flight) / MSS;
            rate.on_sent(segments * MSS);
            in_flight += segments * MSS;
            sent.push(segments);
        }
        // CEIL(3 × 10/20) = 2 at the first acknowledgment, then one for every two.
        assert_eq!(sent[0], 2);
        assert_eq!(sent.iter().sum::<u64>(), 10, "{sent:?}");
        assert_eq!(in_flight, 10 * MSS);
        assert!(sent[1..].iter().all(|&segments| segments <= 1), "{sent:?}");
    }

    /// RFC 6937 §4, second example: of 20 segments the first 15 are lost. When the first of the
    /// others arrives only four are in flight, below the threshold of 10: slow start by the data
    /// delivered, plus one segment for an acknowledgment that advances.
    #[test]
    fn slow_starts_when_the_network_has_emptied() {
        let mut rate = ProportionalRate::new(20 * MSS, Bound::SlowStart);
        let progress = |in_flight, safe| Progress {
            delivered: MSS,
            in_flight,
            safe,
        };
        assert_eq!(
            rate.on_acknowledged(&progress(4 * MSS, false), 10 * MSS, MSS),
            5 * MSS
        );
        rate.on_sent(MSS);
        assert_eq!(
            rate.on_acknowledged(&progress(4 * MSS, false), 10 * MSS, MSS),
            5 * MSS
        );
        rate.on_sent(MSS);
        assert_eq!(
            rate.on_acknowledged(&progress(4 * MSS, true), 10 * MSS, MSS),
            6 * MSS
        );
        rate.on_sent(2 * MSS);
        // Never beyond the threshold.
        assert_eq!(
            rate.on_acknowledged(&progress(9_500, true), 10 * MSS, MSS),
            10 * MSS
        );
    }

    /// RFC 6937 §3: if the data in flight equals the threshold, there is no room below it, and the
    /// proportion counts only above it.
    #[test]
    fn at_the_threshold_nothing_more_leaves() {
        let mut rate = ProportionalRate::new(20 * MSS, Bound::SlowStart);
        let progress = |delivered, in_flight| Progress {
            delivered,
            in_flight,
            safe: true,
        };
        // The first retransmission leaves nevertheless.
        let window = rate.on_acknowledged(&progress(9 * MSS, 10 * MSS), 10 * MSS, MSS);
        assert_eq!(window, 11 * MSS);
        rate.on_sent(MSS);
        let window = rate.on_acknowledged(&progress(MSS, 10 * MSS), 10 * MSS, MSS);
        assert_eq!(window, 10 * MSS);
        // One byte above it the proportion counts: CEIL(11 × 10/20) = 6, less the one sent.
        let window = rate.on_acknowledged(&progress(MSS, 10 * MSS + 1), 10 * MSS, MSS);
        assert_eq!(window, 10 * MSS + 1 + 5 * MSS);
    }

    /// Linux, `tcp_cwnd_reduction` before and after 9ad084d66619. Fifteen of twenty segments are
    /// lost; one segment that the first acknowledgments allowed could not be sent. The next two
    /// report one segment each: today they allow two, and three once the hole moves; before they
    /// allowed one, and three once a retransmission is acknowledged.
    #[test]
    fn what_was_not_sent_is_made_up_for_only_where_it_is_safe_up_to_5_18() {
        for (bound, allowed) in [(Bound::SlowStart, 2), (Bound::Conservation, 1)] {
            let mut rate = ProportionalRate::new(20 * MSS, bound);
            let progress = |safe| Progress {
                delivered: MSS,
                in_flight: 4 * MSS,
                safe,
            };
            let _ = rate.on_acknowledged(&progress(false), 10 * MSS, MSS);
            rate.on_sent(MSS);
            let _ = rate.on_acknowledged(&progress(false), 10 * MSS, MSS);
            let window = rate.on_acknowledged(&progress(false), 10 * MSS, MSS);
            assert_eq!(window, (4 + allowed) * MSS, "{bound:?}");
            rate.on_sent(2 * MSS);
            let window = rate.on_acknowledged(&progress(true), 10 * MSS, MSS);
            assert_eq!(window, (4 + 2) * MSS, "{bound:?}");
        }
    }

    /// Linux, `tcp_cwnd_reduction` before and after 7e901ee7b6ab: the condition for a safe slow
    /// start.
    #[test]
    fn safe_is_an_acknowledged_retransmission_up_to_5_13_and_no_new_loss_since() {
        let today = ProportionalRate::new(20 * MSS, Bound::SlowStart);
        let mut before = ProportionalRate::new(20 * MSS, Bound::Conservation);
        assert!(today.is_safe(false, false) && !today.is_safe(true, true));
        assert!(!before.is_safe(false, false) && before.is_safe(true, true));
        // A retransmission that this acknowledgment shows to be lost counts only for it.
        before.on_retransmission_lost();
        assert!(!before.is_safe(true, true));
        let progress = Progress {
            delivered: MSS,
            in_flight: 4 * MSS,
            safe: false,
        };
        let _ = before.on_acknowledged(&progress, 10 * MSS, MSS);
        assert!(before.is_safe(true, true));
    }
}

//! State saved at the start of a recovery, so that the recovery can be undone when it turns out
//! that nothing was lost: by a timestamp older than the first retransmission (Eifel, RFC 3522), or
//! by a duplicate reported for every retransmission (RFC 3708 §2).

use airtcp_units::{Duration, Instant};

use crate::congestion::Saved;
use crate::rtt::Echo;

/// The record of one recovery.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    /// First unacknowledged byte when it began; `None` while nothing can be undone.
    marker: Option<u64>,
    /// The windows before it.
    saved: Option<Saved>,
    /// Segments retransmitted and not reported as duplicates; `None` before any was retransmitted.
    unanswered: Option<u32>,
    /// Time of the first retransmission.
    resent_at: Option<Instant>,
}

impl Undo {
    /// Starts the record of a recovery at `una`, with the windows `saved` and `resent`
    /// retransmissions in flight.
    pub fn begin(&mut self, una: u64, saved: Option<Saved>, resent: u32) {
        self.marker = Some(una);
        self.saved = saved;
        self.unanswered = (resent > 0).then_some(resent);
    }

    /// Whether there is something to undo.
    #[must_use]
    pub const fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// Records a retransmission.
    pub fn on_resent(&mut self, now: Instant) {
        self.resent_at.get_or_insert(now);
        self.unanswered = Some(self.unanswered.unwrap_or(0) + 1);
    }

    /// Records that the peer reports a duplicate that ends at `end`.
    pub fn on_duplicate_reported(&mut self, end: u64) {
        if let (Some(marker), Some(count)) = (self.marker, &mut self.unanswered)
            && end > marker
        {
            *count = count.saturating_sub(1);
        }
    }

    /// Whether every retransmission was needless.
    #[must_use]
    pub const fn is_proved_by_duplicates(&self) -> bool {
        self.marker.is_some() && matches!(self.unanswered, Some(0))
    }

    /// Whether the arrived data was sent before the first retransmission, on a clock with this
    /// tick.
    #[must_use]
    pub fn is_proved_by_echo(&self, echo: Option<Echo>, tick: Duration) -> bool {
        self.marker.is_some()
            && matches!((echo, self.resent_at), (Some(echo), Some(resent_at))
                if echo.sent_at + tick <= resent_at)
    }

    /// Undoes it: returns the earlier windows, if known. Nothing can be undone after that.
    pub const fn take(&mut self) -> Option<Saved> {
        self.marker = None;
        self.saved.take()
    }

    /// Records that nothing is being retransmitted any more.
    pub const fn on_open(&mut self) {
        self.resent_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOWS: Saved = Saved {
        cwnd: 10_000,
        ssthresh: 7000,
        pipe: 9000,
    };

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    fn echo(sent_at: u64) -> Option<Echo> {
        Some(Echo {
            sent_at: at(sent_at),
            rtt: Duration::from_millis(100),
        })
    }

    /// Linux, `tcp_check_dsack`: a duplicate counts if it ends after `undo_marker`, and not if it
    /// was acknowledged before. Every retransmission needs a separate one, including
    /// retransmissions in flight at the start.
    #[test]
    fn every_retransmission_needs_a_duplicate_of_its_own() {
        let mut undo = Undo::default();
        undo.begin(5000, Some(WINDOWS), 1);
        undo.on_resent(at(10));
        undo.on_resent(at(20));
        undo.on_duplicate_reported(5000);
        for end in [5001, 7000] {
            undo.on_duplicate_reported(end);
            assert!(!undo.is_proved_by_duplicates(), "{end}");
        }
        undo.on_duplicate_reported(6000);
        assert!(undo.is_proved_by_duplicates());
        assert_eq!(undo.take(), Some(WINDOWS));
        assert!(!undo.is_proved_by_duplicates(), "taken back already");
    }

    /// If nothing was retransmitted, nothing was needless (Linux: `undo_retrans` is −1).
    #[test]
    fn without_a_retransmission_no_duplicate_proves_anything() {
        let mut undo = Undo::default();
        undo.begin(5000, Some(WINDOWS), 0);
        assert!(undo.is_possible());
        assert!(!undo.is_proved_by_duplicates());
        undo.on_duplicate_reported(6000);
        assert!(!undo.is_proved_by_duplicates());
    }

    /// RFC 3522 §3.2, step 5: the echo must be older than the first retransmission by at least a
    /// tick, as within one tick both carry the same timestamp.
    #[test]
    fn an_echo_proves_that_is_a_tick_older_than_the_first_retransmission() {
        let tick = Duration::from_millis(10);
        let mut undo = Undo::default();
        undo.begin(5000, Some(WINDOWS), 0);
        assert!(!undo.is_proved_by_echo(echo(0), tick), "nothing resent");
        undo.on_resent(at(300));
        undo.on_resent(at(400));
        for (sent_at, proved) in [(0, true), (290, true), (291, false), (300, false)] {
            let proof = undo.is_proved_by_echo(echo(sent_at), tick);
            assert_eq!(proof, proved, "{sent_at} ms");
        }
        assert!(!undo.is_proved_by_echo(None, tick));
        assert_eq!(undo.take(), Some(WINDOWS));
        assert!(!undo.is_possible() && !undo.is_proved_by_echo(echo(0), tick));
        assert_eq!(undo.take(), None);
    }

    /// The first retransmission is that of the current recovery.
    #[test]
    fn what_was_resent_before_is_forgotten() {
        let mut undo = Undo::default();
        undo.begin(5000, Some(WINDOWS), 0);
        undo.on_resent(at(300));
        undo.on_open();
        undo.begin(9000, Some(WINDOWS), 0);
        assert!(!undo.is_proved_by_echo(echo(0), Duration::ZERO));
        undo.on_resent(at(900));
        assert!(undo.is_proved_by_echo(echo(800), Duration::ZERO));
    }
}

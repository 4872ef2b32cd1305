//! The sender's loss recovery, as far as the capture shows it: duplicate ACKs, the resulting fast
//! recovery, and data to retransmit after a timeout.

use airtcp_units::Instant;

/// The state of loss recovery.
#[derive(Debug)]
pub struct Recovery {
    /// Number of consecutive duplicate ACKs.
    duplicates: u32,
    last_duplicate: Option<Instant>,
    /// Whether nothing was retransmitted since the lowest byte last advanced.
    is_first: bool,
    /// One past the highest byte outstanding at a timeout; 0 before the first timeout.
    timeout_end: u64,
    /// One past the highest byte outstanding at the start of fast recovery.
    fast_end: Option<u64>,
    /// Start of the current recovery, by timeout or by fast retransmit.
    since: Option<Instant>,
    /// The last timeout that may have been spurious, as an index among the repeats.
    doubtful_timeout: Option<usize>,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            duplicates: 0,
            last_duplicate: None,
            is_first: true,
            timeout_end: 0,
            fast_end: None,
            since: None,
            doubtful_timeout: None,
        }
    }
}

impl Recovery {
    /// Number of consecutive duplicate ACKs.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Whether nothing was retransmitted since the lowest byte last advanced.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Whether a byte was outstanding at a timeout.
    pub fn is_after_timeout(&self, byte: u64) -> bool {
        byte < self.timeout_end
    }

    /// Whether a byte was outstanding at the start of the current fast recovery.
    pub fn is_in_fast_recovery(&self, byte: u64) -> bool {
        self.fast_end.is_some_and(|end| byte < end)
    }

    /// Whether a duplicate ACK came after `time`.
    pub fn has_duplicate_after(&self, time: Instant) -> bool {
        self.last_duplicate.is_some_and(|last| last > time)
    }

    /// Records a duplicate ACK.
    pub fn duplicate(&mut self, now: Instant) {
        self.duplicates += 1;
        self.last_duplicate = Some(now);
    }

    /// Records any retransmission.
    pub fn retransmitted(&mut self) {
        self.is_first = false;
    }

    /// Records a timeout with everything below `end` outstanding. `doubtful`: its index among the
    /// repeats, if it may have been spurious.
    pub fn timeout(&mut self, end: u64, now: Instant, doubtful: Option<usize>) {
        self.timeout_end = end;
        self.fast_end = None;
        self.doubtful_timeout = doubtful.or(self.doubtful_timeout);
        self.since.get_or_insert(now);
    }

    /// Records a fast retransmit with everything below `end` outstanding.
    pub fn fast(&mut self, end: u64, now: Instant) {
        if self.fast_end.is_none() {
            self.fast_end = Some(end);
            self.since.get_or_insert(now);
        }
    }

    /// Processes a cumulative acknowledgment of new data. Returns the start of the recovery that it
    /// ends.
    pub fn advance(&mut self, ack: u64) -> Option<Instant> {
        self.duplicates = 0;
        self.is_first = true;
        let is_timeout_repaired = ack >= self.timeout_end;
        if is_timeout_repaired {
            self.doubtful_timeout = None;
        }
        self.fast_end = self.fast_end.filter(|end| ack < *end);
        if is_timeout_repaired && self.fast_end.is_none() {
            self.since.take()
        } else {
            None
        }
    }

    /// Start of a recovery that the capture does not show the end of.
    pub fn unfinished(&self) -> Option<Instant> {
        self.since
    }

    /// The last timeout that may have been spurious, as an index among the repeats.
    pub fn doubtful_timeout(&self) -> Option<usize> {
        self.doubtful_timeout
    }

    /// Takes the possibly spurious timeout: original data was acknowledged.
    pub fn settle_timeout(&mut self) -> Option<usize> {
        self.doubtful_timeout.take()
    }
}

//! What the sender is repairing, as far as the capture shows: duplicate ACKs, the fast recovery
//! that they began, and what a timeout left to retransmit.

use airtcp_units::Instant;

/// The state of loss recovery.
#[derive(Debug)]
pub struct Recovery {
    /// Duplicate ACKs in a row.
    duplicates: u32,
    last_duplicate: Option<Instant>,
    /// Nothing was retransmitted since the lowest byte last moved.
    is_first: bool,
    /// The byte after the highest that was outstanding at a timeout; 0 before the first timeout.
    timeout_end: u64,
    /// The byte after the highest that was outstanding when fast recovery began.
    fast_end: Option<u64>,
    /// When the recovery that has not ended began, by timeout or by fast retransmission.
    since: Option<Instant>,
    /// The last timeout that may have been needless, by its place among the repeats.
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
    /// Duplicate ACKs in a row.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Whether nothing was retransmitted since the lowest byte last moved.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Whether a byte was outstanding at a timeout.
    pub fn is_after_timeout(&self, byte: u64) -> bool {
        byte < self.timeout_end
    }

    /// Whether a byte was outstanding when a fast recovery began that has not ended.
    pub fn is_in_fast_recovery(&self, byte: u64) -> bool {
        self.fast_end.is_some_and(|end| byte < end)
    }

    /// Whether a duplicate ACK came after `time`.
    pub fn has_duplicate_after(&self, time: Instant) -> bool {
        self.last_duplicate.is_some_and(|last| last > time)
    }

    /// Takes a duplicate ACK.
    pub fn duplicate(&mut self, now: Instant) {
        self.duplicates += 1;
        self.last_duplicate = Some(now);
    }

    /// Takes any retransmission.
    pub fn retransmitted(&mut self) {
        self.is_first = false;
    }

    /// Takes a timeout with everything below `end` outstanding. `doubtful`: its place among the
    /// repeats, if it may have been needless.
    pub fn timeout(&mut self, end: u64, now: Instant, doubtful: Option<usize>) {
        self.timeout_end = end;
        self.fast_end = None;
        self.doubtful_timeout = doubtful.or(self.doubtful_timeout);
        self.since.get_or_insert(now);
    }

    /// Takes a fast retransmission with everything below `end` outstanding.
    pub fn fast(&mut self, end: u64, now: Instant) {
        if self.fast_end.is_none() {
            self.fast_end = Some(end);
            self.since.get_or_insert(now);
        }
    }

    /// Takes a cumulative acknowledgment of new data. Returns the start of the recovery that it
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

    /// When the recovery began that the capture does not show the end of.
    pub fn unfinished(&self) -> Option<Instant> {
        self.since
    }

    /// The last timeout that may have been needless, by its place among the repeats.
    pub fn doubtful_timeout(&self) -> Option<usize> {
        self.doubtful_timeout
    }

    /// Returns the doubtful timeout and settles it: original data was acknowledged.
    pub fn settle_timeout(&mut self) -> Option<usize> {
        self.doubtful_timeout.take()
    }
}

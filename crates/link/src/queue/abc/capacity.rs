//! Rates by the packets that leave a queue: how much leaves, and how much could.

use std::collections::VecDeque;

use airtcp_units::{Duration, Instant};

/// Bytes that left in the last window.
#[derive(Clone, Debug, Default)]
pub(super) struct Departures {
    last: VecDeque<(Instant, u64)>,
    bytes: u64,
}

impl Departures {
    /// Counts a departure at `now`, and forgets those more than `window` ago.
    pub(super) fn count(&mut self, now: Instant, bytes: u64, window: Duration) {
        self.last.push_back((now, bytes));
        self.bytes += bytes;
        while let Some(&(at, old)) = self.last.front()
            && now - at >= window
        {
            self.bytes -= old;
            self.last.pop_front();
        }
    }

    /// Their bytes.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The capacity of a link that does not report it, by the departures from a queue that is never
/// empty between them: the packets that leave together, an aggregate or the packets of a slot, take
/// the time until the next departure. The paper measures that of aggregates with more behind them,
/// too.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlogged {
    /// The packets that left last, together: when, their bytes, and whether packets are left.
    batch_at: Instant,
    batch: u64,
    leaves_some: bool,
    /// When a batch with more behind it was over, the time that it took, and its bytes.
    last: VecDeque<(Instant, Duration, u64)>,
    took: Duration,
    bytes: u64,
}

impl Backlogged {
    /// Counts a departure at `now`, after which the queue has packets if `leaves_some`, and forgets
    /// batches that ended more than `window` ago.
    pub(super) fn count(&mut self, now: Instant, bytes: u64, leaves_some: bool, window: Duration) {
        if now > self.batch_at {
            if self.leaves_some {
                let took = now - self.batch_at;
                self.last.push_back((now, took, self.batch));
                self.took += took;
                self.bytes += self.batch;
            }
            self.batch_at = now;
            self.batch = 0;
        }
        self.batch += bytes;
        self.leaves_some = leaves_some;
        while let Some(&(ended, took, old)) = self.last.front()
            && now - ended >= window
        {
            self.took -= took;
            self.bytes -= old;
            self.last.pop_front();
        }
    }

    /// The capacity in bytes a second; `None` without a batch with more behind it in the window.
    #[expect(
        clippy::cast_precision_loss,
        reason = "bytes of a window are far below 2^53"
    )]
    pub(super) fn rate(&self) -> Option<f64> {
        (self.took > Duration::ZERO).then(|| self.bytes as f64 / self.took.as_secs_f64())
    }
}

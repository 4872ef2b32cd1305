//! HyStart (Ha & Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55(9), 2011),
//! as in Linux's CUBIC (`hystart_update` in `net/ipv4/tcp_cubic.c`): slow start ends when a train
//! of acknowledgments is as long as half the least round trip, or when round trips have grown.

use airtcp_units::{Duration, Instant};

use super::RoundTrip;

/// Windows below this never end slow start.
const LOW_WINDOW_SEGMENTS: u64 = 16;
/// Samples taken before their minimum is trusted.
const SAMPLES: u32 = 8;
/// Acknowledgments no further apart than this belong to one train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Length that aggregation on the path may add to a train.
const AGGREGATION: Duration = Duration::from_millis(1);
/// Growth of the round trip that ends slow start: an eighth, within these bounds.
const MIN_GROWTH: Duration = Duration::from_millis(4);
const MAX_GROWTH: Duration = Duration::from_millis(16);

/// The observed round trips and trains.
#[derive(Clone, Debug, Default)]
pub struct HyStart {
    least: Option<Duration>,
    round: Option<Round>,
    found: bool,
    /// Whether rounds are counted from the first window that may end slow start, as up to Linux
    /// 5.15 (4e1fddc98d25, "fix spurious Hystart ACK train detections for not-cwnd-limited flows").
    from_low_window: bool,
}

#[derive(Clone, Debug)]
struct Round {
    started_at: Instant,
    last_ack_at: Instant,
    ends: u64,
    least: Duration,
    samples: u32,
}

impl Round {
    const fn new(now: Instant, ends: u64) -> Self {
        Self {
            started_at: now,
            last_ack_at: now,
            ends,
            least: Duration::MAX,
            samples: 0,
        }
    }
}

impl HyStart {
    /// Creates the state; `from_low_window`: as up to Linux 5.15.
    pub fn new(from_low_window: bool) -> Self {
        Self {
            from_low_window,
            ..Self::default()
        }
    }

    /// Starts over after a timeout.
    pub fn reset(&mut self) {
        *self = Self::new(self.from_low_window);
    }

    /// Takes a round-trip sample. Returns whether slow start should end.
    pub fn on_round_trip(&mut self, seen: &RoundTrip) -> bool {
        let least = self.least.map_or(seen.rtt, |least| least.min(seen.rtt));
        self.least = Some(least);
        let is_low = seen.cwnd_segments < LOW_WINDOW_SEGMENTS;
        if self.found || is_low && self.from_low_window {
            return false;
        }
        let fresh = || Round::new(seen.now, seen.nxt);
        let round = self.round.get_or_insert_with(fresh);
        if seen.una > round.ends {
            *round = fresh();
        }
        if is_low {
            return false;
        }
        if seen.now - round.last_ack_at <= TRAIN_GAP {
            round.last_ack_at = seen.now;
            // Pacing spreads a window over half a round trip by itself.
            let spread = least + AGGREGATION;
            let longest = if seen.paced {
                spread
            } else {
                Duration::from_nanos(spread.as_nanos() / 2)
            };
            self.found = seen.now - round.started_at > longest;
        }
        round.least = round.least.min(seen.rtt);
        if round.samples < SAMPLES {
            round.samples += 1;
        } else {
            let growth = Duration::from_nanos(least.as_nanos() / 8);
            let growth = growth.max(MIN_GROWTH).min(MAX_GROWTH);
            self.found |= round.least > least + growth;
        }
        self.found
    }
}

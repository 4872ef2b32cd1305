//! HyStart++ (RFC 9406): round trips that grow lead into conservative slow start, which five round
//! trips later ends slow start, or goes back to it if the growth was jitter.

use airtcp_units::Duration;

use super::RoundTrip;

/// RFC 9406 §4.3: `MIN_RTT_THRESH`, `MAX_RTT_THRESH`, `MIN_RTT_DIVISOR`.
const MIN_GROWTH: Duration = Duration::from_millis(4);
const MAX_GROWTH: Duration = Duration::from_millis(16);
const GROWTH_DIVISOR: u64 = 8;
/// RFC 9406 §4.3: `N_RTT_SAMPLE`, `CSS_GROWTH_DIVISOR`, `CSS_ROUNDS`.
const SAMPLES: u32 = 8;
const CONSERVATIVE_DIVISOR: u64 = 4;
const CONSERVATIVE_ROUNDS: u32 = 5;

/// The minimum round trips of this round and the last.
#[derive(Clone, Debug)]
pub struct HyStartPlusPlus {
    ends: Option<u64>,
    last: Duration,
    current: Duration,
    samples: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start.
#[derive(Clone, Debug)]
struct Conservative {
    baseline: Duration,
    rounds: u32,
}

impl Default for HyStartPlusPlus {
    fn default() -> Self {
        Self {
            ends: None,
            last: Duration::MAX,
            current: Duration::MAX,
            samples: 0,
            conservative: None,
        }
    }
}

impl HyStartPlusPlus {
    /// Takes a round-trip sample. Returns whether slow start should end.
    pub fn on_round_trip(&mut self, seen: &RoundTrip) -> bool {
        let ends = *self.ends.get_or_insert(seen.nxt);
        if seen.una >= ends {
            // §4.2: a round ends when the data sent at its start is acknowledged.
            self.ends = Some(seen.nxt);
            self.last = core::mem::replace(&mut self.current, Duration::MAX);
            self.samples = 0;
            if let Some(conservative) = &mut self.conservative {
                conservative.rounds += 1;
                if conservative.rounds >= CONSERVATIVE_ROUNDS {
                    return true;
                }
            }
        }
        self.current = self.current.min(seen.rtt);
        self.samples += 1;
        if self.samples < SAMPLES {
            return false;
        }
        match &self.conservative {
            None if self.last != Duration::MAX => {
                let growth = Duration::from_nanos(self.last.as_nanos() / GROWTH_DIVISOR);
                let growth = growth.max(MIN_GROWTH).min(MAX_GROWTH);
                if self.current >= self.last + growth {
                    self.conservative = Some(Conservative {
                        baseline: self.current,
                        rounds: 0,
                    });
                }
            }
            // There was no growth after all.
            Some(conservative) if self.current < conservative.baseline => self.conservative = None,
            _ => {}
        }
        false
    }

    /// The divisor of the window's growth.
    #[inline]
    pub const fn divisor(&self) -> u64 {
        if self.conservative.is_some() {
            CONSERVATIVE_DIVISOR
        } else {
            1
        }
    }
}

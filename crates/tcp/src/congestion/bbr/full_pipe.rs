//! Whether start-up has filled the pipe: the bandwidth has stopped growing
//! (`bbr_check_full_bw_reached`; draft-ietf-ccwg-bbr §5.3.1.2).

use super::scaled;

/// The pipe is full when the bandwidth has not grown by a quarter in three round trips.
const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

/// The growth of the bandwidth in start-up.
#[derive(Clone, Debug, Default)]
pub struct FullPipe {
    /// Whether the pipe has been full once.
    pub(super) reached: bool,
    /// The bandwidth that the next ones must exceed, in bytes a second.
    pub(super) bandwidth: u64,
    /// Round trips since it grew.
    pub(super) rounds: u32,
}

impl FullPipe {
    /// Takes the `bandwidth` at an acknowledgment; `round_start`: it begins a round trip;
    /// `limited`: its sample was limited by the application.
    #[inline]
    pub fn check(&mut self, round_start: bool, limited: bool, bandwidth: u64) {
        if self.reached || !round_start || limited {
            return;
        }
        if bandwidth >= scaled(self.bandwidth, GROWTH) {
            self.bandwidth = bandwidth;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        self.reached = self.rounds >= ROUNDS;
    }

    /// Restarts the count of round trips without growth, from any bandwidth.
    pub const fn restart(&mut self) {
        self.bandwidth = 0;
        self.rounds = 0;
    }

    /// After a timeout any bandwidth is growth.
    pub const fn on_timeout(&mut self) {
        self.bandwidth = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three round trips in a row without a quarter more.
    #[test]
    fn the_pipe_is_full_after_three_round_trips_without_a_quarter_more() {
        let mut full = FullPipe::default();
        let mut check = |bandwidth, start, limited| {
            full.check(start, limited, bandwidth);
            (full.bandwidth, full.rounds, full.reached)
        };
        assert_eq!(check(1000, true, false), (1000, 0, false));
        assert_eq!(check(1249, true, false), (1000, 1, false));
        assert_eq!(check(1249, false, false), (1000, 1, false));
        assert_eq!(check(1249, true, true), (1000, 1, false));
        assert_eq!(check(1250, true, false), (1250, 0, false));
        for rounds in 1..=3 {
            assert_eq!(check(1300, true, false), (1250, rounds, rounds == 3));
        }
        assert_eq!(check(9000, true, false), (1250, 3, true), "once for all");
    }
}

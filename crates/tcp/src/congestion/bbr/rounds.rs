//! Round trips, counted by deliveries: one ends when a segment that was sent in it is delivered
//! (`bbr_update_bw`; draft-ietf-ccwg-bbr §5.5.1).

/// The present round trip.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// Whether the acknowledgment that is being processed begins a round trip.
    pub(super) start: bool,
    /// Bytes delivered when the present one began.
    pub(super) next: u64,
    /// Round trips that samples have begun.
    pub(super) count: u64,
}

impl Rounds {
    /// Takes a sample of a segment that was sent when `prior` bytes had been delivered, `delivered`
    /// at its acknowledgment. Returns whether it begins a round trip.
    #[inline]
    pub const fn on_sample(&mut self, prior: u64, delivered: u64) -> bool {
        if prior < self.next {
            return false;
        }
        self.restart(delivered);
        self.start = true;
        self.count += 1;
        true
    }

    /// Begins a round trip now, when `delivered` bytes are delivered.
    pub const fn restart(&mut self, delivered: u64) {
        self.next = delivered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draft §5.5.1: a round trip begins with the first segment sent after the last one began.
    #[test]
    fn a_round_trip_begins_with_what_was_sent_in_it() {
        let begins = |prior| {
            let mut rounds = Rounds {
                next: 500,
                ..Rounds::default()
            };
            let begins = rounds.on_sample(prior, 700);
            assert_eq!(rounds.start, begins);
            (begins, rounds.next)
        };
        assert_eq!(begins(499), (false, 500));
        assert_eq!(begins(500), (true, 700));
    }
}

//! A maximum over a sliding window of rounds or of time, kept with three values (Kathleen Nichols'
//! algorithm, as in Linux's `lib/win_minmax.c`).

/// A value, and the round in which it was seen.
type Sample = (u64, u64);

/// The best value, and the best since each of the two before.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowedMax {
    best: [Sample; 3],
}

impl WindowedMax {
    /// The largest value; zero before there is one.
    pub const fn get(&self) -> u64 {
        self.best[0].1
    }

    /// Forgets everything but `value` of `round`.
    pub const fn reset(&mut self, round: u64, value: u64) {
        self.best = [(round, value); 3];
    }

    /// Takes a sample of `bandwidth`; a sample `limited` by the application counts only if it is at
    /// least the maximum (`bbr_update_bw`; draft-ietf-ccwg-bbr §5.5.5).
    pub fn on_sample(&mut self, window: u64, round: u64, bandwidth: u64, limited: bool) {
        if !limited || bandwidth >= self.get() {
            self.update(window, round, bandwidth);
        }
    }

    /// Takes `value`, seen in `round`; values from more than `window` rounds ago are forgotten.
    /// Rounds may be any measure of time that does not run backwards.
    pub fn update(&mut self, window: u64, round: u64, value: u64) {
        let seen = (round, value);
        if value >= self.best[0].1 || round - self.best[2].0 > window {
            self.reset(round, value);
            return;
        }
        if value >= self.best[1].1 {
            self.best[1] = seen;
            self.best[2] = seen;
        } else if value >= self.best[2].1 {
            self.best[2] = seen;
        }
        if round - self.best[0].0 > window {
            // The best is too old: the next takes its place.
            self.best = [self.best[1], self.best[2], seen];
            if round - self.best[0].0 > window {
                self.best = [self.best[1], self.best[2], seen];
            }
        } else if self.best[1].0 == self.best[0].0 && round - self.best[0].0 > window / 4 {
            self.best[1] = seen;
            self.best[2] = seen;
        } else if self.best[2].0 == self.best[1].0 && round - self.best[0].0 > window / 2 {
            self.best[2] = seen;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_best_of_the_window_and_not_longer() {
        let mut filter = WindowedMax::default();
        filter.update(10, 0, 100);
        for round in 1..=10 {
            filter.update(10, round, 50);
            assert_eq!(filter.get(), 100, "round {round}");
        }
        filter.update(10, 11, 50);
        assert_eq!(filter.get(), 50);
        filter.update(10, 12, 70);
        assert_eq!(filter.get(), 70);
    }

    /// Compared with the largest of the last eleven values; may fall short only by values that came
    /// between two of its three.
    #[test]
    fn is_near_the_true_maximum() {
        let mut filter = WindowedMax::default();
        let values: Vec<u64> = (0..400_u64).map(|index| index * 7919 % 1000).collect();
        for (round, &value) in values.iter().enumerate() {
            filter.update(10, round as u64, value);
            let first = round.saturating_sub(10);
            let truth = values[first..=round].iter().max().copied().unwrap_or(0);
            assert!(filter.get() <= truth, "round {round}");
            assert!(
                filter.get() * 10 >= truth * 7,
                "round {round}: {}",
                filter.get()
            );
        }
    }
}

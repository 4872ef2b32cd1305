//! The velocity: how many times 1/δ segments the window moves in a round trip (Arun & Balakrishnan
//! §2.1, step 4).

/// Round trips for which the direction has to remain the same before the velocity doubles: at rest
/// it changes every 2.5.
const STEADY: u32 = 3;

/// Where the window moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

/// The velocity, and the directions that it follows from.
#[derive(Clone, Debug)]
pub struct Velocity {
    value: f64,
    direction: Option<Direction>,
    /// Number of round trips for which it has remained the same.
    rounds: u32,
    /// The window, in bytes, when the round trip began.
    began_with: u64,
}

impl Default for Velocity {
    fn default() -> Self {
        Self {
            value: 1.0,
            direction: None,
            rounds: 0,
            began_with: 0,
        }
    }
}

impl Velocity {
    /// The velocity, at most `most` but at least 1. With `most` the window in units of 1/δ, it at
    /// most doubles or empties in a round trip (the authors' code bounds it by the window in
    /// segments).
    pub const fn get(&self, most: f64) -> f64 {
        self.value.min(most).max(1.0)
    }

    /// Resets the velocity, at a window of `cwnd` bytes.
    pub fn restart(&mut self, cwnd: u64) {
        *self = Self {
            began_with: cwnd,
            ..Self::default()
        };
    }

    /// Takes a step of a window of `cwnd` bytes. A step back resets a velocity that was gained in
    /// the other direction: kept for the rest of the round trip, it would empty a pipe whose queue
    /// has just filled. The paper compares once a window only; Meta's implementation (mvfst) resets
    /// it like this. Returns whether a new round trip begins.
    pub fn on_step(&mut self, direction: Direction, cwnd: u64) -> bool {
        let turns = self.value > 1.0 && self.direction != Some(direction);
        if turns {
            self.restart(cwnd);
            self.direction = Some(direction);
        }
        turns
    }

    /// Ends a round trip with a window of `cwnd` bytes: once the direction has remained the same
    /// for three of them the velocity doubles in each; another direction resets it to 1.
    pub fn on_round(&mut self, cwnd: u64) {
        let direction = if cwnd > self.began_with {
            Direction::Up
        } else {
            Direction::Down
        };
        self.began_with = cwnd;
        if self.direction != Some(direction) {
            self.direction = Some(direction);
            self.rounds = 0;
            self.value = 1.0;
            return;
        }
        self.rounds = self.rounds.saturating_add(1);
        if self.rounds >= STEADY {
            // Far above any window, and finite.
            self.value = (self.value * 2.0).min(1e9);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §2.1, step 4: doubled each round trip once the direction is the same for three, reset by
    /// another direction.
    #[test]
    fn doubles_after_three_rounds_in_a_direction() {
        let mut velocity = Velocity::default();
        velocity.restart(10_000);
        let mut after = |cwnd| {
            velocity.on_round(cwnd);
            velocity.get(f64::INFINITY)
        };
        let risen: Vec<f64> = [11_000, 12_000, 13_000, 14_000, 15_000]
            .map(&mut after)
            .into();
        assert_eq!(risen, [1.0, 1.0, 1.0, 2.0, 4.0]);
        let fallen: Vec<f64> = [14_000, 13_000, 12_000, 11_000].map(&mut after).into();
        assert_eq!(fallen, [1.0, 1.0, 1.0, 2.0]);
    }

    #[test]
    fn a_step_back_resets_it_at_once() {
        let mut velocity = Velocity::default();
        velocity.restart(1000);
        assert!(!velocity.on_step(Direction::Down, 1000), "nothing gained");
        for cwnd in 2..8 {
            velocity.on_round(cwnd * 1000);
        }
        assert!(!velocity.on_step(Direction::Up, 8000));
        assert_eq!(velocity.get(f64::INFINITY), 8.0);
        assert!(velocity.on_step(Direction::Down, 8000));
        assert_eq!(velocity.get(f64::INFINITY), 1.0);
        let fallen = [7000, 6000, 5000].map(|cwnd| {
            velocity.on_round(cwnd);
            velocity.get(f64::INFINITY)
        });
        assert_eq!(fallen, [1.0, 1.0, 2.0]);
    }

    #[test]
    fn a_window_bounds_it_and_never_below_one() {
        let mut velocity = Velocity::default();
        velocity.restart(1000);
        for cwnd in 2..12 {
            velocity.on_round(cwnd * 1000);
        }
        assert_eq!(velocity.get(5.0), 5.0);
        assert_eq!(velocity.get(0.5), 1.0);
    }
}

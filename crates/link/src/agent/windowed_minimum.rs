//! The smallest of the recent values, in constant memory.

use airtcp_units::{Duration, Instant};

/// The smallest value of the last one to two windows.
///
/// ```text
///        |-- previous --|-- current --...  now
///   forgotten           ^ started
/// ```
///
/// Two numbers represent two windows: when the current one is full it becomes the previous one, and
/// the earlier minimum is forgotten. A change upwards is so noticed after two windows at the
/// latest, one downwards immediately.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowedMinimum<T> {
    started: Instant,
    current: Option<T>,
    previous: Option<T>,
}

impl<T: Copy + Ord> WindowedMinimum<T> {
    pub(super) const fn new() -> Self {
        Self {
            started: Instant::ZERO,
            current: None,
            previous: None,
        }
    }

    /// Takes `value`, seen at `now`.
    pub(super) fn insert(&mut self, now: Instant, window: Duration, value: T) {
        let age = now - self.started;
        if self.current.is_none() || age >= window * 2 {
            (self.previous, self.current, self.started) = (None, None, now);
        } else if age >= window {
            // Windows follow each other without gaps, even if no value arrived at their border.
            (self.previous, self.current) = (self.current, None);
            self.started += window;
        }
        self.current = Some(self.current.map_or(value, |least| least.min(value)));
    }

    /// The smallest, once there is a value.
    pub(super) fn get(&self) -> Option<T> {
        match (self.previous, self.current) {
            (Some(previous), Some(current)) => Some(previous.min(current)),
            (previous, current) => current.or(previous),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Never above the minimum of the last window, never below that of the last two.
        #[test]
        fn lies_between_the_minima_of_one_window_and_two(
            steps in prop::collection::vec((0_u64..50, -100_i64..100), 1..200),
        ) {
            let window = Duration::from_nanos(40);
            let mut least = WindowedMinimum::new();
            prop_assert_eq!(least.get(), None);
            let mut seen = Vec::new();
            let mut now = Instant::ZERO;
            for (wait, value) in steps {
                now += Duration::from_nanos(wait);
                least.insert(now, window, value);
                seen.push((now, value));
                let minimum = |span: Duration| {
                    let recent = seen.iter().filter(|&&(at, _)| now - at < span);
                    recent.map(|&(_, value)| value).min().unwrap()
                };
                let found = least.get().unwrap();
                prop_assert!(minimum(window * 2) <= found && found <= minimum(window));
            }
        }
    }
}

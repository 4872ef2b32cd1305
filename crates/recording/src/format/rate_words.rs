//! Rates in words.

use crate::recording::{Direction, Rates};

/// The rates of all directions: `92.300 Mbit/s down, 10.100 Mbit/s up`.
pub(super) fn in_words(rates: &[Rates]) -> String {
    let each = rates.iter().map(|one| {
        let way = match one.direction {
            Direction::Up => " up",
            Direction::Down => " down",
            Direction::Unknown => "",
        };
        format!("{:.3} Mbit/s{way}", one.mean as f64 / 1e6)
    });
    each.collect::<Vec<_>>().join(", ")
}

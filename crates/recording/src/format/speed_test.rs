//! Speed tests: one rate a direction, and round trips idle and loaded.

use airtcp_units::Duration;

use super::in_words;
use crate::recording::{Bound, Direction, Layer, Rates, Recording};

/// A time of milliseconds that can be a round trip.
pub(super) fn of_ms(ms: f64) -> Option<Duration> {
    const MAX_MS: f64 = 3_600_000.0;
    let is_time = ms > 0.0 && ms <= MAX_MS;
    is_time.then(|| Duration::from_nanos((ms * 1e6).round() as u64))
}

/// The median of the positive values; `None` without any.
pub(super) fn median_ms<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<Duration> {
    let mut sorted: Vec<f64> = values.into_iter().copied().filter(|ms| *ms > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    of_ms(*sorted.get(sorted.len() / 2)?)
}

/// Adds the mean rate of a direction.
pub(super) fn add_mean(found: &mut Recording, direction: Direction, bits_per_second: f64) {
    const MAX: f64 = 1e13;
    if bits_per_second > 0.0 && bits_per_second <= MAX {
        found.rates.push(Rates {
            direction,
            mean: bits_per_second.round() as u64,
            bound: Bound::Transfer,
            layer: Layer::Tcp,
            steps: Vec::new(),
        });
    }
}

/// Adds the remarks common to speed tests, and judges whether the load filled the link. `program`
/// is empty if the file does not name it.
pub(super) fn finish(found: &mut Recording, program: &str) {
    let of = if program.is_empty() { "" } else { " of " };
    found.summary = format!("a speed test{of}{program} ({})", in_words(&found.rates));
    let figures = &found.figures;
    let idle = figures.idle_rtt.map(Duration::as_millis_f64);
    for (direction, loaded) in [
        (
            Direction::Down,
            figures.loaded_down_rtt.or(figures.loaded_rtt),
        ),
        (Direction::Up, figures.loaded_up_rtt.or(figures.loaded_rtt)),
    ] {
        let loaded = loaded.map(Duration::as_millis_f64);
        let (Some(idle), Some(loaded)) = (idle, loaded) else {
            continue;
        };
        // A load that waits in a queue of the link's has filled it.
        if loaded > 1.3 * idle && loaded > idle + 2.0 {
            let own = found
                .rates
                .iter_mut()
                .filter(|one| one.direction == direction);
            own.for_each(|one| one.bound = Bound::Link);
        }
    }
    found
        .remark("Each rate is a mean over several connections: how it changed is not in the file.");
}

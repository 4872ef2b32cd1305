//! The delay profile: the delay that goes with each window, learned from every acknowledgment (Zaki
//! et al.).

use alloc::vec::Vec;

use airtcp_units::{Duration, Instant};

use super::curve::Curve;

/// Largest window of the profile, in segments (`MAX_W_DELAY_CURVE`).
const MAX_WINDOW: usize = 40_000;
/// Weight of the old value of a point (`ewma`).
const KEPT: f64 = 0.875;
/// Time between two fits (`CURVE_TIMER`).
const REFIT: Duration = Duration::from_secs(1);
/// Segments between two knots of the curve, at most, and the fewest knots (`delayProfile_thread`).
const SPACING: usize = 15;
const KNOTS: usize = 5;

/// The points, and the curve through them.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Mean delays in milliseconds, by the window in segments.
    points: Vec<Option<f64>>,
    curve: Option<Curve>,
    fitted_at: Option<Instant>,
}

impl Profile {
    /// Adds the delay of a segment sent at a window of `window` segments.
    pub fn add(&mut self, window: u64, delay: Duration) {
        let place = usize::try_from(window).map_or(MAX_WINDOW, |window| window.min(MAX_WINDOW));
        if self.points.len() <= place {
            self.points.resize(place + 1, None);
        }
        let delay = milliseconds(delay);
        let point = self.points[place].get_or_insert(delay);
        *point = *point * KEPT + delay * (1.0 - KEPT);
    }

    /// Fits the curve again, if the last one is a second old.
    pub fn refresh(&mut self, now: Instant) {
        if self.fitted_at.is_some_and(|at| now < at + REFIT) {
            return;
        }
        self.fitted_at = Some(now);
        let spacing = (self.points.len() / KNOTS).clamp(1, SPACING);
        let knots: Vec<_> = (0..)
            .zip(self.points.chunks(spacing))
            .filter_map(|(chunk, points)| knot(chunk * spacing, points))
            .collect();
        if let Some(curve) = Curve::through(&knots) {
            self.curve = Some(curve);
        }
    }

    /// Forgets windows above `window`: what slow start's overshoot measured (`curveStop`).
    pub fn cut(&mut self, window: u64) {
        if let Ok(window) = usize::try_from(window) {
            self.points.truncate(window.saturating_add(1));
        }
    }

    /// The window in segments that goes with `delay`: the largest one below which no delay is
    /// longer. `None` if the profile is not as long.
    pub fn window(&self, delay: Duration) -> Option<u64> {
        let delay = milliseconds(delay);
        let curve = self.curve.as_ref()?;
        let longer = curve.first_longer(delay, MAX_WINDOW as u64)?;
        Some(longer - 1)
    }

    /// The delay that goes with a window, in segments.
    pub fn delay(&self, window: f64) -> Option<Duration> {
        let curve = self.curve.as_ref()?;
        Some(nanoseconds(curve.delay(window)))
    }
}

/// The mean of the points of a part of the profile that begins with the window `first`.
fn knot(first: usize, points: &[Option<f64>]) -> Option<(f64, f64)> {
    let known = (first..).zip(points);
    let (mut count, mut window, mut delay) = (0.0, 0.0, 0.0);
    for (place, point) in known {
        if let Some(point) = point {
            count += 1.0;
            window += real(place);
            delay += point;
        }
    }
    (count > 0.0).then(|| (window / count, delay / count))
}

#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
const fn real(window: usize) -> f64 {
    window as f64
}

#[expect(clippy::cast_precision_loss, reason = "delays are far below 2^53")]
fn milliseconds(delay: Duration) -> f64 {
    delay.as_nanos() as f64 / 1e6
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates; a delay below zero is none"
)]
fn nanoseconds(milliseconds: f64) -> Duration {
    Duration::from_nanos((milliseconds * 1e6) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link of a segment a millisecond and 50 ms: the delay is 50 ms up to 50 segments, then one
    /// more for each.
    fn learned() -> Profile {
        let mut profile = Profile::default();
        for window in 2..=200 {
            profile.add(window, Duration::from_millis(window.max(50)));
        }
        profile.refresh(Instant::ZERO);
        profile
    }

    #[test]
    fn a_delay_goes_with_the_window_that_causes_it() {
        let profile = learned();
        for delay in [80, 120, 180] {
            let window = profile.window(Duration::from_millis(delay));
            assert!(
                window.is_some_and(|window| window.abs_diff(delay) <= 1),
                "{window:?}"
            );
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            let back = profile.delay(delay as f64);
            assert!(back.is_some_and(|back| back.as_nanos().abs_diff(delay * 1_000_000) < 500_000));
        }
        // Beyond the profile a straight line.
        let window = profile.window(Duration::from_millis(300));
        assert!(
            window.is_some_and(|window| window.abs_diff(300) <= 2),
            "{window:?}"
        );
    }

    /// A point is an average with weight 7/8 of the old value; the curve is a second old at most.
    #[test]
    fn a_point_moves_by_an_eighth_and_the_curve_every_second() {
        let mut profile = learned();
        profile.add(100, Duration::from_millis(180));
        assert_eq!(profile.points[100], Some(100.0 * 0.875 + 180.0 * 0.125));
        for window in 2..=200 {
            profile.add(window, Duration::from_millis(500));
        }
        let before = profile.window(Duration::from_millis(120));
        profile.refresh(Instant::ZERO + Duration::from_millis(999));
        assert_eq!(profile.window(Duration::from_millis(120)), before);
        profile.refresh(Instant::ZERO + Duration::from_secs(1));
        assert!(profile.window(Duration::from_millis(120)) < before);
    }

    #[test]
    fn an_empty_profile_has_no_window() {
        let mut profile = Profile::default();
        profile.refresh(Instant::ZERO);
        assert_eq!(profile.window(Duration::from_millis(100)), None);
        profile.add(10, Duration::from_millis(50));
        profile.refresh(Instant::ZERO + Duration::from_secs(2));
        assert_eq!(profile.window(Duration::from_millis(100)), None);
    }
}

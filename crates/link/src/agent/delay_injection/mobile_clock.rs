//! An estimate of the mobile host's clock at the access point.
//!
//! The mobile stamps its data with its clock, in ticks of unknown phase, and the receiver echoes
//! the stamp (RFC 7323 §3). Neither the start of that clock nor its drift is known here. The *age*
//! of an echo is therefore relative: exact up to a constant. Comparisons of ages do not depend on
//! that constant; only the reported path delay does.

use airtcp_units::{Duration, Instant};

use airtcp_packet::SequenceNumber;

use crate::agent::windowed_minimum::WindowedMinimum;

/// Estimation of the offset between the mobile's clock and the access point's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockOffset {
    /// No offset: both clocks started together (Fotiadis & Siris, footnote 2). In a simulator
    /// they may; nowhere else.
    Synchronised,
    /// The smallest path delay counts as zero: the offset is then off by the delay of the empty
    /// path. A smallest value older than two windows is forgotten, so that the estimate follows a
    /// clock that drifts and a path that became longer.
    Estimated {
        /// Length of one window.
        window: Duration,
    },
}

impl Default for ClockOffset {
    /// Windows of 2 minutes: clocks that drift apart by 100 parts in a million do so by 12 ms in
    /// one.
    fn default() -> Self {
        Self::Estimated {
            window: Duration::from_secs(120),
        }
    }
}

/// State of one mobile's clock.
#[derive(Clone, Debug)]
pub(super) struct MobileClock {
    /// Time and value of the first echo.
    origin: Option<(Instant, u32)>,
    least: WindowedMinimum<i64>,
}

impl MobileClock {
    pub(super) const fn new() -> Self {
        Self {
            origin: None,
            least: WindowedMinimum::new(),
        }
    }

    /// Age of the data with the echo that passes at `now`, in nanoseconds, up to a constant. `tick`
    /// lies between 1 ns and 1 s.
    ///
    /// The echo is unwrapped to the value nearest to the mobile's expected clock, so it may wrap,
    /// also repeatedly while the connection is idle.
    pub(super) fn age(
        &mut self,
        now: Instant,
        echo: u32,
        tick: Duration,
        offset: ClockOffset,
    ) -> i64 {
        let (start, first) = match offset {
            ClockOffset::Synchronised => (Instant::ZERO, 0),
            ClockOffset::Estimated { .. } => *self.origin.get_or_insert((now, echo)),
        };
        let tick = tick.as_nanos().max(1);
        let elapsed = (now - start).as_nanos();
        // Clocks count modulo 2^32.
        let expected = SequenceNumber(first) + (elapsed / tick) as u32;
        let ahead = i64::from(SequenceNumber(echo).distance(expected));
        // Below 2^31 ticks of 10^9 ns and one tick: far below 2^63.
        let age = (elapsed % tick).cast_signed() - ahead.saturating_mul(tick.cast_signed());
        if let ClockOffset::Estimated { window } = offset {
            self.least.insert(now, window, age);
        }
        age
    }

    /// `age` with the offset removed.
    pub(super) fn path_delay(&self, age: i64) -> Duration {
        let since = age.saturating_sub(self.least.get().unwrap_or(0));
        Duration::from_nanos(since.max(0).cast_unsigned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(1);

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A receiver 30 ms away, then 70 ms: 40 ms above the minimum for any offset of the mobile's
    /// clock shows, also across its wrap.
    #[test]
    fn the_offset_goes_with_the_smallest() {
        for start in [0, 77, u32::MAX - 500] {
            let mut clock = MobileClock::new();
            let mut delay = |millis: u64, path: u64| {
                let echo = start.wrapping_add((millis - path) as u32);
                let age = clock.age(at(millis), echo, TICK, ClockOffset::default());
                clock.path_delay(age)
            };
            assert_eq!(delay(1_000, 30), Duration::ZERO);
            assert_eq!(delay(1_400, 70), Duration::from_millis(40));
            assert_eq!(delay(1_600, 20), Duration::ZERO);
            assert_eq!(delay(1_800, 70), Duration::from_millis(50));
        }
    }

    /// 2^32 ms are 49.7 days; after 60 idle ones the clock has wrapped unseen.
    #[test]
    fn a_wrap_while_idle_does_no_harm() {
        let days = 60 * 86_400_000_u64;
        let mut clock = MobileClock::new();
        let first = clock.age(at(100), 70, TICK, ClockOffset::default());
        let echo = (days + 50 - 20) as u32;
        let later = clock.age(at(days + 100), echo, TICK, ClockOffset::default());
        // Stamped at 70 and seen at 100; stamped at 30 past and seen at 100 past.
        assert_eq!(later - first, 40_000_000);
    }

    /// With clocks that agree the path delay is the true one, up to a tick.
    #[test]
    fn synchronised_clocks_need_no_offset() {
        let mut clock = MobileClock::new();
        let now = at(1_000) + Duration::from_micros(250);
        let age = clock.age(now, 970, TICK, ClockOffset::Synchronised);
        assert_eq!(clock.path_delay(age), Duration::from_micros(30_250));
    }

    /// The path becomes 50 ms longer for good: after two windows that is the new zero.
    #[test]
    fn the_smallest_is_forgotten() {
        let mut clock = MobileClock::new();
        let mut shown = Vec::new();
        for second in 1..=600_u64 {
            let path = if second < 100 { 30 } else { 80 };
            let now = second * 1_000;
            let age = clock.age(at(now), (now - path) as u32, TICK, ClockOffset::default());
            shown.push(clock.path_delay(age));
        }
        assert_eq!(shown[50], Duration::ZERO);
        assert_eq!(shown[150], Duration::from_millis(50));
        assert_eq!(shown[100 + 240], Duration::ZERO);
    }
}

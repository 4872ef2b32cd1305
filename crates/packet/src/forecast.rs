//! A receiver's forecast of deliveries, which its acknowledgments carry (Winstein, Sivaraman &
//! Balakrishnan, "Stochastic forecasts achieve high throughput and low delay over cellular
//! networks", NSDI 2013, §3.4).

/// Segments that the path will deliver in each of the next ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Forecast([u8; Self::TICKS]);

impl Forecast {
    /// Ticks that it covers, each of 20 ms.
    pub const TICKS: usize = 8;
    /// Length of the option, kind and length included: the experimental kind with an identifier
    /// (RFC 6994), and a byte for each tick.
    pub(crate) const OPTION_BYTES: u8 = 4 + Self::TICKS as u8;

    /// The forecast with `segments` as the numbers delivered by the end of each tick. They do
    /// not fall; no tick counts more than 255.
    #[must_use]
    pub fn of_totals(segments: [u32; Self::TICKS]) -> Self {
        let mut before = 0_u32;
        Self(segments.map(|total| {
            let in_tick = u8::try_from(total.saturating_sub(before)).unwrap_or(u8::MAX);
            before += u32::from(in_tick);
            in_tick
        }))
    }

    /// Segments delivered within the first `ticks`.
    #[must_use]
    pub fn within(&self, ticks: usize) -> u32 {
        self.0
            .iter()
            .take(ticks)
            .map(|&segments| u32::from(segments))
            .sum()
    }

    /// The segments of each tick, as on the wire.
    pub(crate) const fn to_bytes(self) -> [u8; Self::TICKS] {
        self.0
    }

    /// The same, backwards.
    pub(crate) const fn from_bytes(bytes: [u8; Self::TICKS]) -> Self {
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_kept_up_to_255_segments_a_tick() {
        let totals = [3, 3, 10, 265, 600, 700, 700, 701];
        let forecast = Forecast::of_totals(totals);
        let kept: Vec<u32> = (0..=8).map(|ticks| forecast.within(ticks)).collect();
        assert_eq!(kept, [0, 3, 3, 10, 265, 520, 700, 700, 701]);
        assert_eq!(forecast.within(20), 701);
        assert_eq!(Forecast::from_bytes(forecast.to_bytes()), forecast);
    }
}

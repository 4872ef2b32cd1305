//! Choices of Sprout's receiver and sender.

/// How the receiver of [Sprout](super::CongestionControl::Sprout) forecasts, and how far ahead its
/// sender looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SproutConfig {
    /// The forecast.
    pub forecasting: Forecasting,
    /// Ticks of 20 ms within which data in flight is to be delivered (Winstein et al. §3.5: 5).
    pub ticks: u32,
}

/// The way a receiver forecasts deliveries (Winstein, Sivaraman & Balakrishnan, NSDI 2013).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Forecasting {
    /// From a distribution of the path's rate, inferred from arrivals (§3.1 to §3.3).
    Inference {
        /// Standard deviation of the rate's change in a second, in segments a second (§3.1: 200).
        noise: f64,
        /// Rate at which an outage ends, a second (§3.1: 1).
        escape: f64,
        /// Probability with which fewer segments than forecast may be delivered (§3.3: 0.05).
        risk: f64,
    },
    /// The rate stays at its exponentially weighted average (§5.3, Sprout-EWMA).
    MovingAverage,
}

impl Default for SproutConfig {
    fn default() -> Self {
        Self {
            forecasting: Forecasting::Inference {
                noise: 200.0,
                escape: 1.0,
                risk: 0.05,
            },
            ticks: 5,
        }
    }
}

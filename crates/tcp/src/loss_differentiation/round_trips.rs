//! Mean, mean deviation and range of the round trip, as used by classifiers (Lien et al. §II-A).

use airtcp_units::Duration;

/// The statistics, in seconds.
#[derive(Clone, Debug)]
pub struct RoundTrips {
    gain: f64,
    /// The last sample.
    pub latest: f64,
    /// The smoothed mean.
    pub mean: f64,
    /// The smoothed mean deviation, with twice the mean's gain.
    pub deviation: f64,
    /// The least sample.
    pub least: f64,
    /// The greatest sample.
    pub greatest: f64,
    samples: u64,
}

impl RoundTrips {
    /// Creates the statistics without samples; the mean moves by `gain`, the deviation by twice
    /// that.
    pub const fn new(gain: f64) -> Self {
        Self {
            gain,
            latest: 0.0,
            mean: 0.0,
            deviation: 0.0,
            least: 0.0,
            greatest: 0.0,
            samples: 0,
        }
    }

    /// Takes a sample. The papers do not define the initial mean and deviation; here they are the
    /// first sample and zero. The deviation is taken from the mean after the sample.
    pub fn add(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        self.latest = rtt;
        self.samples += 1;
        if self.samples == 1 {
            (self.mean, self.least, self.greatest) = (rtt, rtt, rtt);
            return;
        }
        self.mean = (1.0 - self.gain) * self.mean + self.gain * rtt;
        let gain = 2.0 * self.gain;
        self.deviation = (1.0 - gain) * self.deviation + gain * (rtt - self.mean).abs();
        self.least = self.least.min(rtt);
        self.greatest = self.greatest.max(rtt);
    }
}

//! Rayleigh fading that is correlated in time: W. Jakes, Microwave Mobile Communications, 1974, as
//! a sum of sinusoids with random phases and angles (Y. Zheng & C. Xiao, "Simulation models with
//! correct statistical properties for Rayleigh fading channels", IEEE Trans. Comm. 51(6), 2003,
//! equation 9).

use airtcp_units::Instant;

use crate::random::Stream;

/// Sinusoids in each quadrature. The authors find 8 enough; 16 cost little.
pub(super) const SINUSOIDS: usize = 16;

/// A fading signal as a function of time.
#[derive(Clone, Debug)]
pub(super) struct Jakes {
    sinusoids: [Sinusoid; SINUSOIDS],
    phase: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sinusoid {
    /// Radians a second: ω_d cos α.
    frequency: f64,
    /// cos ψ and sin ψ.
    in_phase: f64,
    quadrature: f64,
}

impl Jakes {
    pub(super) fn new(doppler_hz: f64, stream: Stream) -> Self {
        use std::f64::consts::PI;
        let angle = |index| PI * (2.0 * stream.uniform(index) - 1.0);
        let (theta, phase) = (angle(0), angle(1));
        let count = SINUSOIDS as f64;
        let mut sinusoids = [Sinusoid::default(); SINUSOIDS];
        for (sinusoid, n) in sinusoids.iter_mut().zip(1_u64..) {
            let alpha = (2.0 * PI * n as f64 - PI + theta) / (4.0 * count);
            let psi = angle(1 + n);
            *sinusoid = Sinusoid {
                frequency: 2.0 * PI * doppler_hz * libm::cos(alpha),
                in_phase: libm::cos(psi),
                quadrature: libm::sin(psi),
            };
        }
        Self { sinusoids, phase }
    }

    /// Both quadratures at `at`, each with mean power 1/2.
    pub(super) fn quadratures(&self, at: Instant) -> (f64, f64) {
        let seconds = at.as_secs_f64();
        let wave = |sinusoid: &Sinusoid| libm::cos(sinusoid.frequency * seconds + self.phase);
        let mut waves = [0.0; SINUSOIDS];
        for (value, sinusoid) in waves.iter_mut().zip(&self.sinusoids) {
            *value = wave(sinusoid);
        }
        self.quadratures_of(&waves)
    }

    /// The power at `at`: mean 1.
    pub(super) fn power(&self, at: Instant) -> f64 {
        power(self.quadratures(at))
    }

    /// The power where the sinusoids have these values.
    pub(super) fn power_of(&self, waves: &[f64; SINUSOIDS]) -> f64 {
        power(self.quadratures_of(waves))
    }

    /// Cosine and sine of each sinusoid at `at`.
    pub(super) fn phasors(&self, at: Instant) -> [[f64; SINUSOIDS]; 2] {
        let seconds = at.as_secs_f64();
        self.phasors_at(|sinusoid| sinusoid.frequency * seconds + self.phase)
    }

    /// Cosine and sine of the angle by which each turns in `seconds`.
    pub(super) fn turns_in(&self, seconds: f64) -> [[f64; SINUSOIDS]; 2] {
        self.phasors_at(|sinusoid| sinusoid.frequency * seconds)
    }

    fn phasors_at(&self, angle: impl Fn(&Sinusoid) -> f64) -> [[f64; SINUSOIDS]; 2] {
        let angles = self.sinusoids.each_ref().map(angle);
        [angles.map(libm::cos), angles.map(libm::sin)]
    }

    fn quadratures_of(&self, waves: &[f64; SINUSOIDS]) -> (f64, f64) {
        let scale = libm::sqrt(2.0 / SINUSOIDS as f64);
        let (mut in_phase, mut quadrature) = (0.0, 0.0);
        for (wave, sinusoid) in waves.iter().zip(&self.sinusoids) {
            in_phase += sinusoid.in_phase * wave;
            quadrature += sinusoid.quadrature * wave;
        }
        (scale * in_phase, scale * quadrature)
    }
}

/// The power of a signal with these quadratures; the logarithm of a power of zero would be
/// infinite.
fn power((in_phase, quadrature): (f64, f64)) -> f64 {
    (in_phase * in_phase + quadrature * quadrature).max(f64::MIN_POSITIVE)
}

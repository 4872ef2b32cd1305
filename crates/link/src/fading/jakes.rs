//! Rayleigh fading that is correlated in time: W. Jakes, Microwave Mobile Communications, 1974, as
//! a sum of sinusoids with random phases and angles (Y. Zheng & C. Xiao, "Simulation models with
//! correct statistical properties for Rayleigh fading channels", IEEE Trans. Comm. 51(6), 2003,
//! equation 9).

use airtcp_units::Instant;

use crate::random::Stream;

/// Sinusoids in each quadrature. The authors find 8 enough; 16 cost little.
const SINUSOIDS: usize = 16;

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
        let scale = libm::sqrt(2.0 / SINUSOIDS as f64);
        let (mut in_phase, mut quadrature) = (0.0, 0.0);
        for sinusoid in &self.sinusoids {
            let wave = libm::cos(sinusoid.frequency * seconds + self.phase);
            in_phase += sinusoid.in_phase * wave;
            quadrature += sinusoid.quadrature * wave;
        }
        (scale * in_phase, scale * quadrature)
    }

    /// The power at `at`: mean 1.
    pub(super) fn power(&self, at: Instant) -> f64 {
        let (in_phase, quadrature) = self.quadratures(at);
        // The logarithm of a power of zero would be infinite.
        (in_phase * in_phase + quadrature * quadrature).max(f64::MIN_POSITIVE)
    }
}

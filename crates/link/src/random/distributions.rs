//! Draws that are not uniform integers: each a pure function of stream and index, the same on every
//! machine since the transcendental functions are `libm`'s.

use super::Stream;

impl Stream {
    /// Draw number `index`, uniform above 0 and up to 1.
    #[inline]
    #[must_use]
    pub fn uniform(&self, index: u64) -> f64 {
        // The 53 bits that an f64 holds; never 0, so that its logarithm is finite.
        ((self.draw(index) >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Draw number `index`, exponential with mean 1.
    #[inline]
    #[must_use]
    pub fn exponential(&self, index: u64) -> f64 {
        -libm::log(self.uniform(index))
    }

    /// Draw number `index`, normal with mean 0 and variance 1 (G. Box & M. Muller, "A note on the
    /// generation of random normal deviates", 1958). It takes the uniform draws 2·`index` and the
    /// next one.
    #[must_use]
    pub fn normal(&self, index: u64) -> f64 {
        let first = index.wrapping_mul(2);
        let radius = libm::sqrt(2.0 * self.exponential(first));
        let angle = 2.0 * std::f64::consts::PI * self.uniform(first.wrapping_add(1));
        radius * libm::cos(angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u64 = 40_000;

    /// The largest distance between the empirical distribution and `cumulative`, times √n
    /// (Kolmogorov and Smirnov; 1.63 is exceeded in 1 of 100 samples).
    fn distance(mut draws: Vec<f64>, cumulative: impl Fn(f64) -> f64) -> f64 {
        draws.sort_by(f64::total_cmp);
        let count = draws.len() as f64;
        let of = |(place, &draw): (usize, &f64)| {
            let expected = cumulative(draw);
            let (below, above) = (place as f64 / count, (place + 1) as f64 / count);
            (expected - below).abs().max((above - expected).abs())
        };
        draws.iter().enumerate().map(of).fold(0.0, f64::max) * count.sqrt()
    }

    #[test]
    fn draws_follow_their_distributions() {
        let stream = Stream::new(1, "distributions");
        let draws = |draw: fn(&Stream, u64) -> f64| (0..COUNT).map(|i| draw(&stream, i)).collect();
        assert!(distance(draws(Stream::uniform), |x| x) < 1.63);
        assert!(distance(draws(Stream::exponential), |x| 1.0 - (-x).exp()) < 1.63);
        let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        assert!(distance(draws(Stream::normal), normal) < 1.63);
    }
}

//! The rate that a media sender asks of its encoder (RFC 8298 §4.1.3).

use std::collections::VecDeque;

use airtcp_units::{BitRate, Duration, Instant};

use super::window::Window;

// RFC 8298 §4.1.1.1. Rates are in bits a second.
const RATE_ADJUST_INTERVAL: Duration = Duration::from_millis(200);
const RAMP_UP_SPEED: f64 = 200_000.0;
const BETA_R: f64 = 0.9;
const PRE_CONGESTION_GUARD: f64 = 0.1;
const TX_QUEUE_SIZE_FACTOR: f64 = 1.0;
const RTP_QDELAY_TH: f64 = 0.02;
const TARGET_RATE_SCALE_RTP_QDELAY: f64 = 0.95;
/// Rates of the encoder over which the median is taken: ten seconds.
const MEDIAN_OF: usize = 50;

/// The target, and the measured rates that it follows.
#[derive(Clone, Debug)]
pub struct MediaRate {
    target: f64,
    least: f64,
    most: f64,
    /// The target at the last sign of congestion, near which it grows slowly.
    inflection: f64,
    next: Instant,
    is_lossy: bool,
    was_in_fast_increase: bool,
    /// Bytes sent, acknowledged and encoded since the last adjustment.
    sent: u64,
    acked: u64,
    encoded: u64,
    encoder_rates: VecDeque<f64>,
}

#[expect(clippy::cast_precision_loss, reason = "rates and bytes are below 2^53")]
impl MediaRate {
    /// The target at `now`, and its bounds.
    pub fn new(now: Instant, start: BitRate, least: BitRate, most: BitRate) -> Self {
        Self {
            target: start.as_bps() as f64,
            least: least.as_bps() as f64,
            most: most.as_bps() as f64,
            inflection: 1.0,
            next: now + RATE_ADJUST_INTERVAL,
            is_lossy: false,
            was_in_fast_increase: true,
            sent: 0,
            acked: 0,
            encoded: 0,
            encoder_rates: VecDeque::new(),
        }
    }

    /// The target, in bits a second.
    pub const fn target(&self) -> f64 {
        self.target
    }

    /// Time of the next adjustment.
    pub const fn next(&self) -> Instant {
        self.next
    }

    /// Counts a frame of that many bytes.
    pub const fn on_encoded(&mut self, bytes: u64) {
        self.encoded += bytes;
    }

    /// Counts a packet of that many bytes.
    pub const fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Counts feedback.
    pub const fn on_feedback(&mut self, acked: u64, is_lossy: bool) {
        self.acked += acked;
        self.is_lossy |= is_lossy;
    }

    /// Adjusts the target, if it is time, with `waiting` bytes in the sender's queue.
    pub fn adjust(&mut self, now: Instant, window: &Window, waiting: u64) {
        if now < self.next {
            return;
        }
        self.next = now + RATE_ADJUST_INTERVAL;
        let rate = |bytes: u64| bytes as f64 * 8.0 / RATE_ADJUST_INTERVAL.as_secs_f64();
        let current = rate(self.sent).max(rate(self.acked));
        let encoder = rate(self.encoded);
        self.encoder_rates.push_back(encoder);
        if self.encoder_rates.len() > MEDIAN_OF {
            self.encoder_rates.pop_front();
        }
        (self.sent, self.acked, self.encoded) = (0, 0, 0);
        let left_fast_increase = self.was_in_fast_increase && !window.is_in_fast_increase();
        self.was_in_fast_increase = window.is_in_fast_increase();
        let is_lossy = core::mem::take(&mut self.is_lossy);
        if left_fast_increase || is_lossy {
            self.inflection = self.target;
        }
        if is_lossy {
            self.target = (BETA_R * self.target).max(self.least);
            return;
        }
        self.follow(window, current, waiting as f64 * 8.0);
        let (_, memory) = window.trends();
        let limit = current.max(encoder).max(self.median()) * (2.0 - memory);
        self.target = self.target.min(limit).min(self.most).max(self.least);
    }

    fn follow(&mut self, window: &Window, current: f64, waiting_bits: f64) {
        let speed = RAMP_UP_SPEED.min(self.target / 2.0);
        let most = speed * RATE_ADJUST_INTERVAL.as_secs_f64();
        let distance = 4.0 * (self.target - self.inflection) / self.inflection;
        // Near the inflection the target may still grow a little.
        let scale = (distance * distance).clamp(0.2, 1.0);
        if window.is_in_fast_increase() {
            self.target += most * scale;
            return;
        }
        let (trend, _) = window.trends();
        let mut change = current * (1.0 - PRE_CONGESTION_GUARD * trend);
        change -= TX_QUEUE_SIZE_FACTOR * waiting_bits;
        if change > 0.0 {
            change = (change * scale).min(most);
        }
        self.target += change;
        if waiting_bits > RTP_QDELAY_TH * current {
            self.target *= TARGET_RATE_SCALE_RTP_QDELAY;
        }
    }

    fn median(&self) -> f64 {
        let mut rates: Vec<f64> = self.encoder_rates.iter().copied().collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: BitRate = BitRate::from_bps(100_000);
    const MOST: BitRate = BitRate::from_bps(2_000_000);

    fn at(milliseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(milliseconds)
    }

    /// Media of `bps` that are sent as they are encoded, until the next adjustment.
    fn adjusted(media: &mut MediaRate, window: &Window, now: u64, bps: u64, waiting: u64) -> f64 {
        let bytes = bps / 8 / 5;
        media.on_encoded(bytes);
        media.on_sent(bytes);
        media.on_feedback(bytes, false);
        media.adjust(at(now), window, waiting);
        media.target()
    }

    /// §4.1.3: by at most 200 kbit/s in a second, and by half of itself.
    #[test]
    fn the_ramp_up_has_a_speed() {
        let window = Window::new(at(0));
        for (start, expected) in [(1_000_000, 1_040_000.0), (200_000, 220_000.0)] {
            let mut media = MediaRate::new(at(0), BitRate::from_bps(start), LEAST, MOST);
            assert_eq!(adjusted(&mut media, &window, 199, start, 0), start as f64);
            assert_eq!(adjusted(&mut media, &window, 200, start, 0), expected);
        }
    }

    /// A loss leaves nine tenths, but no less than the minimum; then the target grows at a fifth of
    /// the speed near the rate of the loss.
    #[test]
    fn a_loss_leaves_nine_tenths() {
        let window = Window::new(at(0));
        let mut media = MediaRate::new(at(0), BitRate::from_bps(1_000_000), LEAST, MOST);
        media.on_feedback(1000, true);
        media.adjust(at(200), &window, 0);
        assert_eq!(media.target(), 900_000.0);
        let next = adjusted(&mut media, &window, 400, 900_000, 0);
        assert!((next - 908_000.0).abs() < 1e-6, "{next}");
        let mut least = MediaRate::new(at(0), LEAST, LEAST, MOST);
        least.on_feedback(1000, true);
        least.adjust(at(200), &window, 0);
        assert_eq!(least.target(), 100_000.0);
    }

    /// Data in the sender's queue lowers the target.
    #[test]
    fn a_queue_in_the_sender_lowers_the_target() {
        let mut window = Window::new(at(0));
        window.leave_fast_increase();
        let mut media = MediaRate::new(at(0), BitRate::from_bps(1_000_000), LEAST, MOST);
        let target = adjusted(&mut media, &window, 200, 1_000_000, 200_000);
        assert!(target < 500_000.0, "{target}");
    }

    /// No encoder is asked for more than twice what it, or the path, has shown.
    #[test]
    fn the_target_stays_near_what_is_used() {
        let window = Window::new(at(0));
        let mut media = MediaRate::new(at(0), BitRate::from_bps(1_900_000), LEAST, MOST);
        assert_eq!(adjusted(&mut media, &window, 200, 300_000, 0), 600_000.0);
    }
}

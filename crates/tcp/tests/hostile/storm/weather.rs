//! The network of a storm.

use airtcp_packet::Segment;
use airtcp_units::{Duration, Instant};

use super::super::harness::wire::Wire;
use super::plan::Weather;

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014, figure 16).
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn happens(&mut self, of_256: u64) -> bool {
        self.below(256) < of_256
    }
}

/// A path that storms for a time.
#[derive(Clone, Debug)]
pub struct Path {
    weather: Weather,
    /// One-way delay.
    delay: Duration,
    draws: Draws,
    wire: Wire,
}

impl Path {
    pub const fn new(weather: Weather, delay: Duration, seed: u64) -> Self {
        Self {
            weather,
            delay,
            draws: Draws::new(seed),
            wire: Wire { ipv6: false },
        }
    }

    /// Carries a segment that end `from` sends at `now`: every copy that arrives, and when.
    pub fn carry(
        &mut self,
        now: Instant,
        from: usize,
        segment: Segment,
        storms: bool,
    ) -> Vec<(Instant, Segment)> {
        if !storms {
            return vec![(now + self.delay, segment)];
        }
        let weather = self.weather;
        let mut copies = Vec::new();
        let count = 1 + u64::from(self.draws.happens(weather.duplicate));
        for _ in 0..count {
            if self.draws.happens(weather.lose) {
                continue;
            }
            let mut at = now + self.delay;
            if self.draws.happens(weather.delay) {
                at += Duration::from_nanos(self.draws.below(weather.most_delay.as_nanos()));
            }
            let arrives = if self.draws.happens(weather.flip) {
                let mut bytes = self.wire.pack(from, &segment);
                let bit = self.draws.next() as usize;
                self.wire.flip_option(&mut bytes, bit);
                self.wire.unpack(1 - from, &bytes)
            } else {
                Some(segment)
            };
            copies.extend(arrives.map(|segment| (at, segment)));
        }
        copies
    }
}

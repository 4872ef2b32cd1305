//! The rate of a token-bucket policer: if two consecutive intervals of several round trips lose a
//! fifth of the data they deliver and deliver at the same rate, that rate is used instead of the
//! largest bandwidth seen (Linux, `bbr_lt_bw_sampling`; Flach et al., "An Internet-wide analysis of
//! traffic policing", SIGCOMM 2016).

use airtcp_units::{Duration, Instant};

/// Minimum length of an interval in round trips; the maximum is four times as many.
const MIN_ROUNDS: u32 = 4;
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Minimum loss rate of an interval, in bytes lost for each delivered: 50/256, some 20 %.
const LOSS: (u64, u64) = (50, 256);
/// Two rates are the same within an eighth of the first, or 4 kbit/s.
const SAME_WITHIN: u64 = 8;
const SAME_BYTES_PER_SECOND: u64 = 500;
/// Round trips of bandwidth probing after which the rate is forgotten.
const USED_FOR_ROUNDS: u32 = 48;
/// Length from which on an interval is discarded, since the kernel's clock would overflow.
const TOO_LONG: Duration = Duration::from_millis(4_294_967);

/// The state after an acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub now: Instant,
    /// Total bytes delivered, and presumed lost.
    pub delivered: u64,
    pub lost: u64,
    /// Whether this acknowledgment showed a loss.
    pub shows_loss: bool,
    /// Whether the application had too little to send.
    pub application_limited: bool,
    pub round_start: bool,
    /// Whether the bandwidth is being probed in cycles.
    pub is_cycling: bool,
}

/// Measures the rate.
#[derive(Clone, Debug, Default)]
pub struct PolicedRate {
    /// The last interval's rate, in bytes a second; zero before the first.
    rate: u64,
    is_used: bool,
    is_sampling: bool,
    rounds: u32,
    began: Instant,
    delivered: u64,
    lost: u64,
    /// Whether a timeout has shown a loss since the last acknowledgment.
    timed_out: bool,
}

impl PolicedRate {
    /// The rate of the policer, in bytes a second, if there is one.
    pub fn get(&self) -> Option<u64> {
        self.is_used.then_some(self.rate)
    }

    /// Records that a timeout has shown a loss (`bbr_set_state`).
    pub const fn on_timeout(&mut self) {
        self.timed_out = true;
    }

    /// Resets everything: a loss was spurious, or the application had too little to send.
    pub const fn reset(&mut self, now: Instant, delivered: u64, lost: u64) {
        self.rate = 0;
        self.is_used = false;
        self.is_sampling = false;
        self.begin(now, delivered, lost);
    }

    const fn begin(&mut self, now: Instant, delivered: u64, lost: u64) {
        self.began = now;
        self.delivered = delivered;
        self.lost = lost;
        self.rounds = 0;
    }

    /// Takes an acknowledgment. Returns whether the rate was used until now, so that the cycle of
    /// probing restarts.
    pub fn on_acknowledged(&mut self, moment: &Moment) -> bool {
        let timed_out = core::mem::take(&mut self.timed_out);
        let shows_loss = moment.shows_loss || timed_out;
        let Moment {
            now,
            delivered,
            lost,
            ..
        } = *moment;
        if self.is_used {
            if moment.is_cycling && moment.round_start {
                self.rounds += 1;
                if self.rounds >= USED_FOR_ROUNDS {
                    self.reset(now, delivered, lost);
                    return true;
                }
            }
            return false;
        }
        if !self.is_sampling {
            // The bucket is empty at the first loss.
            if !shows_loss {
                return false;
            }
            self.begin(now, delivered, lost);
            self.is_sampling = true;
        }
        if moment.application_limited {
            self.reset(now, delivered, lost);
            return false;
        }
        self.rounds += u32::from(moment.round_start) + u32::from(timed_out);
        if self.rounds > MAX_ROUNDS {
            self.reset(now, delivered, lost);
        } else if self.rounds >= MIN_ROUNDS && shows_loss {
            self.end(now, delivered, lost);
        }
        false
    }

    /// Ends an interval at a loss, if enough was lost in it.
    fn end(&mut self, now: Instant, delivered: u64, lost: u64) {
        let (arrived, missing) = (delivered - self.delivered, lost.saturating_sub(self.lost));
        // The kernel counts whole milliseconds.
        let took = (now - self.began).as_nanos() / 1_000_000;
        if arrived == 0 || missing * LOSS.1 < arrived * LOSS.0 || took == 0 {
            return;
        }
        if now - self.began >= TOO_LONG {
            self.reset(now, delivered, lost);
            return;
        }
        let rate = arrived.saturating_mul(1000) / took;
        let apart = rate.abs_diff(self.rate);
        let is_same = apart * SAME_WITHIN <= self.rate || apart <= SAME_BYTES_PER_SECOND;
        if self.rate > 0 && is_same {
            self.rate = u64::midpoint(rate, self.rate);
            self.is_used = true;
            self.rounds = 0;
        } else {
            self.rate = rate;
            self.begin(now, delivered, lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path that delivers `rates[i]` bytes in round `i` of 100 ms, and loses `lost` for each 100.
    fn after(rates: &[u64], lost: u64) -> PolicedRate {
        let mut policed = PolicedRate::default();
        let mut moment = Moment {
            now: Instant::ZERO + Duration::from_secs(1),
            delivered: 0,
            lost: 0,
            shows_loss: true,
            application_limited: false,
            round_start: true,
            is_cycling: true,
        };
        policed.on_acknowledged(&moment);
        for &rate in rates {
            moment.now += Duration::from_millis(100);
            moment.delivered += rate;
            moment.lost += rate * lost / 100;
            policed.on_acknowledged(&moment);
        }
        policed
    }

    /// Linux: an interval begins at the first loss, with that loss's round counted, and ends at a
    /// loss after four round trips; the second of the same rate settles it. 20 kB in 100 ms are 200
    /// kB/s.
    #[test]
    fn two_stretches_of_the_same_rate_show_a_policer() {
        assert_eq!(after(&[20_000; 6], 25).get(), None);
        assert_eq!(after(&[20_000; 7], 25).get(), Some(200_000));
        // Three rounds at 20 kB, four at 22: within an eighth, and the mean counts.
        let near = [20_000, 20_000, 20_000, 22_000, 22_000, 22_000, 22_000];
        assert_eq!(after(&near, 25).get(), Some(210_000));
        let far = [20_000, 20_000, 20_000, 25_000, 25_000, 25_000, 25_000];
        assert_eq!(after(&far, 25).get(), None);
    }

    /// 50 lost for 256 delivered are 19.5 %.
    #[test]
    fn fewer_losses_than_a_fifth_show_nothing() {
        assert_eq!(after(&[20_000; 14], 20).get(), Some(200_000));
        assert_eq!(after(&[20_000; 14], 19).get(), None);
    }

    /// A path described interval by interval.
    struct Path {
        policed: PolicedRate,
        moment: Moment,
    }

    impl Path {
        /// At the first loss; its acknowledgment is the interval's first round trip.
        fn new() -> Self {
            let moment = Moment {
                now: Instant::ZERO + Duration::from_secs(1),
                delivered: 5000,
                lost: 1000,
                shows_loss: true,
                application_limited: false,
                round_start: true,
                is_cycling: true,
            };
            let mut policed = PolicedRate::default();
            policed.on_acknowledged(&moment);
            Self { policed, moment }
        }

        /// `rounds` round trips in a second; the last one delivers `delivered` bytes and shows that
        /// `lost` are lost.
        fn stretch(&mut self, rounds: u64, delivered: u64, lost: u64) -> &mut Self {
            for round in 1..=rounds {
                let is_last = round == rounds;
                self.moment.now += Duration::from_millis(1000 / rounds);
                self.moment.shows_loss = is_last;
                if is_last {
                    let odd = Duration::from_millis(1000 % rounds);
                    self.moment.now += odd;
                    self.moment.delivered += delivered;
                    self.moment.lost += lost;
                }
                self.policed.on_acknowledged(&self.moment);
            }
            self
        }
    }

    /// Linux: `lost << 8 < 50 * delivered` is too little.
    #[test]
    fn fifty_of_256_are_enough() {
        let rate = |lost| Path::new().stretch(3, 25_600, lost).policed.rate;
        assert_eq!(rate(4999), 0);
        assert_eq!(rate(5000), 25_600);
    }

    /// Linux, `bbr_lt_intvl_min_rtts`: 4 to 16 round trips.
    #[test]
    fn a_stretch_is_of_four_to_sixteen_round_trips() {
        let rate = |rounds| Path::new().stretch(rounds, 8000, 2000).policed.rate;
        assert_eq!(rate(2), 0);
        assert_eq!(rate(3), 8000);
        assert_eq!(rate(15), 8000);
        assert_eq!(rate(16), 0);
        let after = Path::new().stretch(16, 8000, 2000).policed.clone();
        assert!(!after.is_sampling, "it waits for another loss");
    }

    /// Linux: within an eighth of the first, or 4 kbit/s; a single interval proves nothing, however
    /// slow it is.
    #[test]
    fn two_rates_are_the_same_within_an_eighth_or_500_bytes_a_second() {
        let used = |first, second| {
            let mut path = Path::new();
            path.stretch(3, first, first / 4);
            path.stretch(4, second, second / 2).policed.get()
        };
        assert_eq!(used(8000, 9000), Some(8500));
        assert_eq!(used(8000, 9001), None);
        assert_eq!(used(1000, 1500), Some(1250));
        assert_eq!(used(1000, 1501), None);
        assert_eq!(Path::new().stretch(3, 400, 100).policed.get(), None);
    }

    #[test]
    fn the_rate_is_used_for_48_round_trips() {
        let mut policed = after(&[20_000; 7], 25);
        let mut moment = Moment {
            now: Instant::ZERO + Duration::from_secs(2),
            delivered: 140_000,
            lost: 35_000,
            shows_loss: false,
            application_limited: false,
            round_start: true,
            is_cycling: true,
        };
        for _ in 0..47 {
            assert!(!policed.on_acknowledged(&moment));
            moment.is_cycling = false;
            assert!(!policed.on_acknowledged(&moment), "counts cycles only");
            moment.is_cycling = true;
        }
        assert_eq!(policed.get(), Some(200_000));
        assert!(policed.on_acknowledged(&moment));
        assert_eq!(policed.get(), None);
    }

    /// A timeout is a loss and a separate round trip (`bbr_set_state`).
    #[test]
    fn a_timeout_begins_a_stretch() {
        let mut policed = PolicedRate::default();
        let moment = Moment {
            now: Instant::ZERO + Duration::from_secs(1),
            delivered: 1000,
            lost: 0,
            shows_loss: false,
            application_limited: false,
            round_start: false,
            is_cycling: true,
        };
        policed.on_acknowledged(&moment);
        assert!(!policed.is_sampling);
        policed.on_timeout();
        policed.on_acknowledged(&moment);
        assert!(policed.is_sampling);
        assert_eq!(policed.rounds, 1);
        let limited = Moment {
            application_limited: true,
            ..moment
        };
        policed.on_acknowledged(&limited);
        assert!(!policed.is_sampling, "too little to send says nothing");
    }
}

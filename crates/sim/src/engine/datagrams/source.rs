//! Sending times of a flow that is not TCP.

use airtcp_link::Stream;
use airtcp_scenario::{Bursts, Datagrams};
use airtcp_units::{Duration, Instant};

/// Interval at which a saturated source checks for room.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// Maximum number of a saturated source's datagrams in flight: for unlimited queues.
const MAX_UNDER_WAY: u64 = 4096;

/// Times at which datagrams are sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pace: Pace,
    /// Time of the next datagram; for a saturated source, of its next check for room.
    next: Instant,
    burst: Option<Burst>,
}

#[derive(Clone, Copy, Debug)]
enum Pace {
    /// One every interval.
    Every(Duration),
    /// Whenever there is room.
    Saturated,
}

/// A time of sending.
#[derive(Clone, Copy, Debug)]
struct Burst {
    mean: Bursts,
    draws: Stream,
    /// Bursts so far.
    index: u64,
    ends: Instant,
}

impl Burst {
    fn draw(&self, mean: Duration, place: u64) -> Duration {
        let seconds = mean.as_secs_f64() * self.draws.exponential(2 * self.index + place);
        Duration::from_secs_f64(seconds).unwrap_or(mean)
    }

    /// Begins a burst at `now`.
    fn begin(&mut self, now: Instant) {
        self.ends = now + self.draw(self.mean.on, 0);
    }

    /// Ends it: the silence lasts until the returned time.
    fn pause(&mut self) -> Instant {
        let until = self.ends + self.draw(self.mean.off, 1);
        self.index += 1;
        until
    }
}

impl Source {
    pub(super) fn new(datagrams: &Datagrams, start: Instant, draws: Stream) -> Self {
        let (pace, bursts) = match datagrams {
            Datagrams::Ping(ping) => (Pace::Every(ping.interval), None),
            Datagrams::Udp(udp) => match udp.rate {
                Some(rate) => {
                    let interval = rate.transmission_time(u64::from(udp.size));
                    (
                        Pace::Every(interval.max(Duration::from_nanos(1))),
                        udp.bursts,
                    )
                }
                None => (Pace::Saturated, udp.bursts),
            },
            // Its feedback decides.
            Datagrams::Scream(media) => (Pace::Every(media.frame), None),
        };
        let burst = bursts.map(|mean| {
            let mut burst = Burst {
                mean,
                draws,
                index: 0,
                ends: start,
            };
            burst.begin(start);
            burst
        });
        Self {
            pace,
            next: start,
            burst,
        }
    }

    /// Time of the next action.
    pub(super) const fn next(&self) -> Instant {
        self.next
    }

    /// Whether it may send whenever a packet has left the network, with `under_way` packets in
    /// flight.
    pub(super) fn may_refill(&self, now: Instant, under_way: u64) -> bool {
        let is_on = self.burst.is_none_or(|burst| now < burst.ends);
        matches!(self.pace, Pace::Saturated) && is_on && under_way < MAX_UNDER_WAY
    }

    /// Takes the action due at `now`: returns whether it is a datagram, or a check for room.
    pub(super) fn take_due(&mut self, now: Instant) -> bool {
        if now < self.next {
            return false;
        }
        if let Some(burst) = &mut self.burst
            && now >= burst.ends
        {
            let resumes = burst.pause();
            burst.begin(resumes);
            self.next = resumes;
            if now < resumes {
                return false;
            }
        }
        self.next += match self.pace {
            Pace::Every(interval) => interval,
            Pace::Saturated => LOOK_EVERY,
        };
        true
    }

    /// Whether it sends until there is no more room.
    pub(super) const fn is_saturated(&self) -> bool {
        matches!(self.pace, Pace::Saturated)
    }
}

#[cfg(test)]
mod tests {
    use airtcp_scenario::{Ping, Udp};
    use airtcp_units::BitRate;

    use super::*;

    fn sent(datagrams: Datagrams, until: Duration) -> Vec<Instant> {
        let end = Instant::ZERO + until;
        let mut source = Source::new(&datagrams, Instant::ZERO, Stream::new(1, "datagrams"));
        let mut times = Vec::new();
        while source.next() <= end {
            let now = source.next();
            if source.take_due(now) {
                times.push(now);
            }
        }
        times
    }

    /// 1250 bytes are 10 000 bits: at 1 Mbit/s one every 10 ms.
    #[test]
    fn a_rate_is_one_datagram_every_so_often() {
        let udp = Udp {
            rate: Some(BitRate::from_bps(1_000_000)),
            size: 1250,
            bursts: None,
        };
        let times = sent(Datagrams::Udp(udp), Duration::from_millis(35));
        let expected = [0, 10, 20, 30].map(|ms| Instant::ZERO + Duration::from_millis(ms));
        assert_eq!(times, expected);
        let ping = Ping {
            interval: Duration::from_millis(20),
            size: 56,
        };
        assert_eq!(
            sent(Datagrams::Ping(ping), Duration::from_millis(99)).len(),
            5
        );
    }

    /// Half of the time on: half of the datagrams, and pauses of the mean length. Over 2000 bursts
    /// either is within 5 % of it by more than two standard errors.
    #[test]
    fn pauses_have_their_mean_length() {
        let mean = Duration::from_millis(100);
        let udp = Udp {
            rate: Some(BitRate::from_bps(8_000_000)),
            size: 1000,
            bursts: Some(Bursts {
                on: mean,
                off: mean,
            }),
        };
        let times = sent(Datagrams::Udp(udp), Duration::from_secs(400));
        let share = times.len() as f64 / 400_000.0;
        assert!((share - 0.5).abs() < 0.03, "{share}");
        let gaps: Vec<f64> = times
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64())
            .filter(|gap| *gap > 0.0011)
            .collect();
        let pause = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((pause - 0.1).abs() < 0.01, "{pause}");
    }
}

//! Monitor intervals: the data sent at one rate, and its deliveries and losses.

use alloc::collections::VecDeque;

use airtcp_units::{BitRate, Duration, Instant};

use super::fit::Fit;
use super::{INTERVAL_SEGMENTS, bytes_at, rate_of};
use crate::congestion::Ack;

/// An interval whose data is not yet all answered.
#[derive(Clone, Debug)]
struct Interval {
    rate: BitRate,
    /// Whether its measurement is used.
    useful: bool,
    began: Instant,
    /// Bytes sent before it.
    sent_before: u64,
    /// When it ended, and the bytes sent until then.
    end: Option<(Instant, u64)>,
    /// The connection's losses, in bytes, once all data sent before it was answered.
    lost_before: Option<u64>,
    round_trips: Fit,
    application_limited: bool,
}

/// The measurement of an interval.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The rate chosen for it.
    pub rate: BitRate,
    /// The rate at which data left: the chosen one, unless a window or the application held it.
    pub sent_rate: BitRate,
    /// For how long.
    pub span: Duration,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes of them lost.
    pub lost: u64,
    /// Their round trips.
    pub round_trips: Fit,
    /// Whether the application had too little to send.
    pub application_limited: bool,
}

impl Measured {
    /// Share of the data that was lost, less `forgiven` bytes.
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    pub fn loss_rate(&self, forgiven: u64) -> f64 {
        let lost = self.lost.saturating_sub(forgiven).min(self.sent);
        if lost == 0 {
            0.0
        } else {
            lost as f64 / self.sent as f64
        }
    }
}

/// The sequence of intervals, without gaps: the last one is being sent.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    intervals: VecDeque<Interval>,
    /// Bytes of the connection, retransmissions included: sent, of them answered, of them lost.
    sent: u64,
    answered: u64,
    lost: u64,
    mss: u64,
}

impl Monitor {
    /// Takes the losses that an acknowledgment tells, and its round trip if that is `reliable`.
    pub fn observe(&mut self, ack: &Ack, reliable: bool, mss: u64) {
        let answered = ack.delivered_in_all.saturating_add(ack.lost_in_all);
        // A segment that arrives although presumed lost counts twice.
        self.sent = self.sent.max(answered.saturating_add(ack.in_flight));
        (self.answered, self.lost, self.mss) = (answered, ack.lost_in_all, mss);
        let rtt = ack.rtt.filter(|_| reliable);
        let newest = rtt.map(|rtt| (rtt, sent_at(ack.now, rtt)));
        let limited = ack.rate.is_some_and(|rate| rate.application_limited);
        for interval in &mut self.intervals {
            if let Some((rtt, sent_at)) = newest
                && sent_at >= interval.began
                && interval.end.is_none_or(|(ended, _)| sent_at < ended)
            {
                interval.round_trips.add(sent_at - interval.began, rtt);
                interval.application_limited |= limited;
            }
            if answered >= interval.sent_before {
                interval.lost_before.get_or_insert(ack.lost_in_all);
            }
        }
        while let Some(first) = self.intervals.front()
            && !first.useful
            && first.end.is_some_and(|(_, until)| answered >= until)
        {
            self.intervals.pop_front();
        }
    }

    /// The measurement of the oldest useful interval, once all its data is answered.
    pub fn take(&mut self) -> Option<Measured> {
        let place = self.intervals.iter().position(|one| one.useful)?;
        let (ended, until) = self.intervals.get(place)?.end?;
        if self.answered < until {
            return None;
        }
        let interval = self.intervals.remove(place)?;
        let sent = until - interval.sent_before;
        let span = ended - interval.began;
        // An interval begins and ends between segments: within two of them it was at its rate.
        let quanta = bytes_at(interval.rate, span).abs_diff(sent) / self.mss.max(1);
        Some(Measured {
            rate: interval.rate,
            sent_rate: if quanta < 2 {
                interval.rate
            } else {
                rate_of(sent, span)
            },
            span,
            sent,
            lost: self
                .lost
                .saturating_sub(interval.lost_before.unwrap_or(self.lost)),
            round_trips: interval.round_trips,
            application_limited: interval.application_limited,
        })
    }

    /// Ends the interval being sent, and begins one at `rate`.
    pub fn begin(&mut self, now: Instant, rate: BitRate, useful: bool) {
        if let Some(last) = self.intervals.back_mut() {
            last.end = Some((now, self.sent));
        }
        self.intervals.push_back(Interval {
            rate,
            useful,
            began: now,
            sent_before: self.sent,
            end: None,
            lost_before: (self.answered >= self.sent).then_some(self.lost),
            round_trips: Fit::default(),
            application_limited: false,
        });
    }

    /// Whether the last interval has lasted for `span`, and has sent enough segments.
    pub fn is_over(&self, now: Instant, span: Duration) -> bool {
        self.intervals.back().is_none_or(|last| {
            now >= last.began + span && self.sent - last.sent_before >= INTERVAL_SEGMENTS * self.mss
        })
    }

    /// Number of useful intervals, sent or being sent.
    pub fn useful(&self) -> usize {
        self.intervals.iter().filter(|one| one.useful).count()
    }

    /// The rate of the interval being sent.
    pub fn rate(&self) -> Option<BitRate> {
        self.intervals.back().map(|last| last.rate)
    }

    /// Forgets every interval: their measurements mean nothing.
    pub fn clear(&mut self) {
        self.intervals.clear();
    }
}

/// When a segment that is acknowledged at `now` was sent.
fn sent_at(now: Instant, rtt: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos()))
}

#[cfg(test)]
mod tests {
    use super::super::testbed::{MSS, ack};
    use super::*;

    const fn milliseconds(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    const RATE: BitRate = BitRate::from_bps(8_000_000);

    /// Two intervals of ten milliseconds, a segment a millisecond, 30 ms of round trip, the third
    /// segment of the first interval lost.
    fn two_intervals() -> (Monitor, Vec<Measured>) {
        let mut monitor = Monitor::default();
        let mut found = Vec::new();
        for count in 0..=60 {
            let now = Instant::ZERO + milliseconds(count);
            let (delivered, lost) = match count {
                0..=30 => (0, 0),
                31..=33 => (count - 30, 0),
                _ => (count - 31, 1),
            };
            let in_flight = (count - delivered - lost) * MSS;
            let mut ack = ack(now, (count > 30).then(|| milliseconds(30)), in_flight);
            (ack.delivered_in_all, ack.lost_in_all) = (delivered * MSS, lost * MSS);
            monitor.observe(&ack, true, MSS);
            found.extend(monitor.take());
            if count == 0 || count == 10 || count == 20 {
                monitor.begin(now, RATE, count < 20);
            }
        }
        (monitor, found)
    }

    #[test]
    fn losses_and_round_trips_belong_to_the_interval_of_their_segments() {
        let (monitor, found) = two_intervals();
        assert_eq!(found.len(), 2);
        assert_eq!(monitor.useful(), 0);
        let sent: Vec<_> = found.iter().map(|one| (one.sent, one.lost)).collect();
        assert_eq!(sent, [(10 * MSS, MSS), (10 * MSS, 0)]);
        assert_eq!(found[0].loss_rate(0), 0.1);
        assert_eq!(found[0].loss_rate(MSS), 0.0);
        // Sent at 1 ms to 9 ms; the one at 0 ms has no interval yet.
        assert_eq!(found[0].round_trips.count(), 9);
        assert_eq!(found[1].round_trips.count(), 10);
        assert!(found.iter().all(|one| one.sent_rate == RATE));
    }

    /// Half the chosen rate left: the window or the application held it.
    #[test]
    fn a_rate_that_was_not_sent_is_not_claimed() {
        let mut monitor = Monitor::default();
        let mut ack = ack(Instant::ZERO, None, 0);
        monitor.observe(&ack, true, MSS);
        monitor.begin(Instant::ZERO, RATE, true);
        ack.in_flight = 5 * MSS;
        monitor.observe(&ack, true, MSS);
        let now = Instant::ZERO + milliseconds(10);
        monitor.begin(now, RATE, false);
        ack.delivered_in_all = 5 * MSS;
        ack.in_flight = 0;
        monitor.observe(&ack, true, MSS);
        let rate = monitor.take().map(|one| one.sent_rate.as_bps());
        assert_eq!(rate, Some(4_000_000));
    }

    #[test]
    fn an_interval_needs_its_time_and_five_segments() {
        let mut monitor = Monitor::default();
        let mut ack = ack(Instant::ZERO, None, 0);
        assert!(monitor.is_over(Instant::ZERO, milliseconds(10)), "none yet");
        monitor.observe(&ack, true, MSS);
        monitor.begin(Instant::ZERO, RATE, true);
        let late = Instant::ZERO + milliseconds(10);
        ack.in_flight = 4 * MSS;
        monitor.observe(&ack, true, MSS);
        assert!(!monitor.is_over(late, milliseconds(10)));
        ack.in_flight = 5 * MSS;
        monitor.observe(&ack, true, MSS);
        assert!(monitor.is_over(late, milliseconds(10)));
        assert!(!monitor.is_over(late, milliseconds(11)));
    }
}

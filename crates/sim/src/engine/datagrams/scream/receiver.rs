//! The receiver of media: which packets have arrived, in feedback as often as the rate needs it
//! (RFC 8298 §4.2).

use airtcp_units::{Duration, Instant};

/// Feedback a second: as many as ten-thousandths of the rate, within bounds (§4.2.2).
const FEEDBACK: (f64, f64) = (2.5, 50.0);
const BITS_A_FEEDBACK: f64 = 10_000.0;
/// Bytes of an IP packet with feedback but for the reports: IPv4 and UDP, then RTCP, the stream and
/// the timestamp (RFC 8888 §3.1).
const HEADER_BYTES: u32 = 28 + 8 + 8 + 4;
/// Bytes for each packet reported.
const REPORT_BYTES: u32 = 2;

/// The contents of a feedback packet.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Number of the newest packet that has arrived, the time at which it was sent, and that of its
    /// arrival.
    pub newest: u64,
    /// See there.
    pub sent: Instant,
    /// See there.
    pub arrived: Instant,
    /// Numbers of the packets that have arrived since the last report.
    pub received: Vec<u64>,
}

impl Report {
    /// Size of the packet that carries it.
    pub fn packet_bytes(&self) -> u32 {
        let reported = u32::try_from(self.received.len()).unwrap_or(u32::MAX);
        HEADER_BYTES.saturating_add(REPORT_BYTES.saturating_mul(reported))
    }
}

/// The packets that have arrived and are not reported yet.
#[derive(Clone, Debug)]
pub struct Receiver {
    report: Report,
    bytes: u64,
    last: Instant,
    interval: Duration,
}

impl Receiver {
    /// The receiver before the first packet, at `now`.
    pub fn new(now: Instant) -> Self {
        Self {
            report: Report::default(),
            bytes: 0,
            last: now,
            interval: interval(0.0),
        }
    }

    /// Takes a packet of `bytes`, number `index`, sent at `sent`.
    pub fn on_arrival(&mut self, now: Instant, index: u64, sent: Instant, bytes: u64) {
        self.bytes += bytes;
        if self.report.received.is_empty() && self.report.arrived == Instant::ZERO
            || index > self.report.newest
        {
            (self.report.newest, self.report.sent) = (index, sent);
            self.report.arrived = now;
        }
        self.report.received.push(index);
    }

    /// When the next feedback is due; never as long as nothing has arrived.
    pub fn next(&self) -> Instant {
        if self.report.received.is_empty() {
            Instant::FAR_FUTURE
        } else {
            self.last + self.interval
        }
    }

    /// The feedback that is due at `now`, if any.
    #[expect(
        clippy::cast_precision_loss,
        reason = "bytes of a fraction of a second"
    )]
    pub fn take_report(&mut self, now: Instant) -> Option<Report> {
        if now < self.next() {
            return None;
        }
        let seconds = (now - self.last).as_secs_f64().max(1e-3);
        self.interval = interval(self.bytes as f64 * 8.0 / seconds);
        (self.last, self.bytes) = (now, 0);
        let report = self.report.clone();
        self.report.received.clear();
        Some(report)
    }
}

/// Time from one feedback to the next at that rate, in bits a second.
fn interval(rate: f64) -> Duration {
    let (least, most) = FEEDBACK;
    let seconds = 1.0 / (rate / BITS_A_FEEDBACK).clamp(least, most);
    Duration::from_secs_f64(seconds).unwrap_or(Duration::from_millis(400))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §4.2.2: 400 ms at 25 kbit/s and less, 100 ms at 100 kbit/s, 20 ms from 500 kbit/s on.
    #[test]
    fn feedback_is_as_frequent_as_the_rate_needs() {
        let expected = [(0.0, 400), (100_000.0, 100), (500_000.0, 20), (9e6, 20)];
        for (rate, milliseconds) in expected {
            assert_eq!(
                interval(rate),
                Duration::from_millis(milliseconds),
                "{rate}"
            );
        }
    }

    #[test]
    fn a_report_names_the_newest_and_what_is_new() {
        let at = |milliseconds| Instant::ZERO + Duration::from_millis(milliseconds);
        let mut receiver = Receiver::new(at(0));
        assert_eq!(receiver.next(), Instant::FAR_FUTURE);
        for (now, index) in [(30, 0), (31, 2), (33, 1)] {
            receiver.on_arrival(at(now), index, at(now - 25), 1000);
        }
        assert!(receiver.take_report(at(399)).is_none());
        let report = receiver.take_report(at(400)).expect("one is due");
        assert_eq!(
            (report.newest, report.sent, report.arrived),
            (2, at(6), at(31))
        );
        assert_eq!(report.received, [0, 2, 1]);
        assert_eq!(report.packet_bytes(), 54);
        assert!(receiver.take_report(at(900)).is_none(), "nothing new");
    }
}

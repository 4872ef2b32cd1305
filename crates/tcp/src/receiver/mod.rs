//! The receive side: reassembly, the window, and the timing and contents of acknowledgments.

mod delayed_ack;
mod forecast;
mod islands;
mod reassembly;
mod report;
mod schedule;
mod window;

use core::ops::Range;

use airtcp_packet::Forecast;
use airtcp_units::{Compact, Duration, Instant};

use crate::config::{Config, CongestionControl};
use delayed_ack::{DelayedAck, Disorder};
use reassembly::Reassembly;
use report::Report;
use window::{StreamPosition, Window};

/// Maximum number of ranges that an acknowledgment can report: as many as fit without other options
/// (RFC 2018 §3).
pub const MAX_REPORTED: usize = 4;

/// Bytes of the receive buffer for each range that may be held after a gap. Linux charges a held
/// segment at least 576 (`SKB_TRUESIZE`), however little it carries; senders of full segments leave
/// at most one range per two segments.
const BUFFER_BYTES_A_RANGE: u64 = 512;
/// Ranges that may be held after gaps in even the smallest buffer.
const MIN_RANGES: u32 = 64;

/// Maximum number of ranges held after gaps in a buffer of that size. The window bounds their
/// bytes.
fn most_ranges(buffer: u64) -> u32 {
    u32::try_from(buffer / BUFFER_BYTES_A_RANGE)
        .unwrap_or(u32::MAX)
        .max(MIN_RANGES)
}

/// The receive side of a connection, in offsets of the stream it receives. A FIN takes the offset
/// after the last byte.
#[derive(Clone, Debug)]
pub struct Receiver {
    reassembly: Reassembly,
    delayed: DelayedAck,
    report: Report,
    /// End of the data read by the application.
    read: u64,
    window: Window,
    /// Offset of the FIN, once it has arrived.
    fin: Compact<u64>,
}

impl Receiver {
    /// Creates a receiver for a peer that cannot use a window of less than `step` bytes: less than
    /// a segment, or than the window field can express.
    #[must_use]
    pub fn new(config: &Config, step: u32) -> Self {
        let report = Report::new(config.sack, config.sack && config.dsack);
        Self {
            reassembly: Reassembly::new(most_ranges(config.receive_buffer)),
            delayed: DelayedAck::new(&config.delayed_ack),
            report: match config.congestion {
                CongestionControl::Sprout => report.with_forecasts(config.sprout),
                _ => report,
            },
            read: 0,
            window: Window::new(config, step),
            fin: Compact::NONE,
        }
    }

    /// Takes the bytes `range`, already trimmed to the window, that arrived at `now`; `fin` if a
    /// FIN follows them.
    #[inline]
    pub fn on_data(&mut self, now: Instant, mut range: Range<u64>, mut fin: bool) {
        if let Some(known) = self.fin.get() {
            // The first FIN counts, and no data follows it.
            fin &= range.end == known;
            range.end = range.end.min(known);
        }
        if fin {
            self.fin = Compact::some(range.end);
            range.end += 1;
        }
        if range.is_empty() {
            return;
        }
        let before = self.next_expected();
        let had_gaps = self.reassembly.has_gaps();
        let length = range.end - range.start;
        if range.start == before && !had_gaps {
            // In order with nothing waiting: the common case.
            self.reassembly.extend(range.end);
            let here = self.standing();
            if self.window.on_segment(now, here, length, true) {
                self.delayed.quicken();
            }
            self.delayed.on_in_order(now, length, fin);
            return;
        }
        let end = range.end;
        let held_before = self.reassembly.waiting_bytes();
        let insertion = self.reassembly.insert(range.clone());
        let here = self.standing();
        let in_order = here.next_expected > before;
        let mut grew = self.window.on_segment(now, here, length, in_order);
        let sack = self.report.reports_ranges();
        if !in_order {
            let without = StreamPosition {
                behind_gaps: held_before,
                ..here
            };
            grew |= self.window.on_gap(without, length, end, sack);
        }
        if let Some(duplicate) = insertion.duplicate {
            self.report.on_duplicate(duplicate);
        }
        if insertion.fresh == 0 {
            self.report.count_duplicate();
        } else {
            self.report.on_arrival(range.start);
        }
        if !self.reassembly.has_gaps() {
            self.report.on_gaps_filled();
        }
        // RFC 5681 §4.2: at once when out of order, a duplicate, or filling a gap.
        let is_open = sack && self.reassembly.has_gaps();
        let disorder = Disorder {
            in_order,
            grew,
            gap: is_open.then(|| self.next_expected()),
            round_trip: self.window.round_trip(),
        };
        self.delayed.on_disorder(now, &disorder);
    }

    /// Sets the silence after which a sender that resumes has its segments acknowledged one by one.
    pub fn set_pause(&mut self, pause: Duration) {
        self.delayed.set_pause(pause);
    }

    /// Takes the round trip of the handshake.
    pub fn on_round_trip(&mut self, round_trip: Duration) {
        self.delayed.on_round_trip(round_trip);
        self.window.on_handshake(round_trip);
        self.report.on_round_trip(round_trip);
    }

    /// Records that the segment that is about to be taken was pushed (PSH).
    #[inline]
    pub const fn on_pushed(&mut self) {
        self.delayed.on_pushed();
    }

    /// Records that a segment with data was sent.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        self.delayed.on_data_sent(now);
    }

    /// Records that the application is answering the data just arrived, so that its answer will
    /// bring the acknowledgment.
    pub(crate) const fn expect_answer(&mut self) {
        self.delayed.expect_answer();
    }

    /// Discards knowledge about acknowledgments gained from the data of a SYN.
    pub(crate) const fn forget_arrivals(&mut self) {
        self.delayed.forget_arrivals();
    }

    /// Whether it uses [`on_echo`](Self::on_echo).
    #[inline]
    #[must_use]
    pub const fn times_round_trips(&self) -> bool {
        self.window.is_tuned()
    }

    /// Takes the echo of a timestamp sent at `sent_at`, received after `round_trip` with a full
    /// segment.
    #[inline]
    pub fn on_echo(&mut self, sent_at: Instant, round_trip: Duration) {
        self.window.on_echo(sent_at, round_trip);
    }

    /// Makes an acknowledgment due: the peer needs to know our state.
    pub const fn demand_acknowledgment(&mut self) {
        self.delayed.demand();
    }

    /// Whether data has arrived that is not acknowledged yet.
    pub const fn holds_acknowledgment(&self) -> bool {
        self.delayed.is_holding()
    }

    /// Acknowledges the next `segments` in order one by one.
    pub fn acknowledge_at_once(&mut self, segments: u32) {
        self.delayed.acknowledge_at_once(segments);
    }

    /// Takes a retransmitted segment with no byte above the next expected one.
    pub fn on_old_duplicate(&mut self, range: Range<u64>) {
        self.report.count_duplicate();
        self.report.on_duplicate(range);
        self.delayed.demand();
    }

    /// First byte not received in order (RCV.NXT).
    #[inline]
    #[must_use]
    pub const fn next_expected(&self) -> u64 {
        self.reassembly.next_expected()
    }

    /// Whether the FIN and everything before it have arrived.
    #[inline]
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.fin.get().is_some_and(|fin| self.next_expected() > fin)
    }

    /// Whether this byte was received, in order or not.
    #[must_use]
    pub fn holds(&self, offset: u64) -> bool {
        offset < self.next_expected() || self.reassembly.containing(offset).is_some()
    }

    /// End of the highest range above a gap, if such ranges are reported.
    #[must_use]
    pub fn highest_reported(&self) -> Option<u64> {
        let highest = self.reassembly.highest_end();
        highest.filter(|_| self.report.reports_ranges())
    }

    /// Offset of the FIN, once known: the end of the stream.
    #[inline]
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.fin.get()
    }

    /// Bytes received in order, the FIN excluded.
    #[must_use]
    pub fn received(&self) -> u64 {
        let next = self.next_expected();
        self.fin.get().map_or(next, |fin| fin.min(next))
    }

    /// Bytes received after gaps, the FIN excluded.
    #[must_use]
    pub fn received_behind_gaps(&self) -> u64 {
        let has_fin = |fin| self.next_expected() <= fin && self.holds(fin);
        let fin = self.fin.get().is_some_and(has_fin);
        self.reassembly.waiting_bytes() - u64::from(fin)
    }

    /// Bytes read by the application.
    #[must_use]
    pub const fn read_so_far(&self) -> u64 {
        self.read
    }

    /// Number of segments that brought nothing new.
    #[must_use]
    pub const fn duplicates(&self) -> u64 {
        self.report.duplicates() as u64
    }

    /// Takes up to `most` bytes for the application; returns their number.
    #[inline]
    pub fn read(&mut self, most: u64) -> u64 {
        let bytes = (self.received() - self.read).min(most);
        let begin = self.read;
        self.read += bytes;
        if bytes > 0 {
            self.window.on_read(begin, self.read, self.received());
            if self.read == self.received() {
                self.delayed.on_all_read();
            }
        }
        // The peer must learn that a closed, or almost closed, window has opened (RFC 9293
        // §3.8.6.2.2).
        if self.window.is_reopened(self.standing()) {
            self.delayed.demand();
        }
        bytes
    }

    /// Returns the window to announce, in bytes from the next expected byte on, in an
    /// acknowledgment about to be sent. It opens in steps of a segment or half the buffer, to avoid
    /// silly windows (RFC 9293 §3.8.6.2.2).
    #[inline]
    pub fn window(&mut self) -> u64 {
        let end = self.window.announce(self.standing());
        end.saturating_sub(self.next_expected())
    }

    /// Limits the data that can be held out of order or unread to `bytes`. The window already
    /// announced is not withdrawn (RFC 9293 §3.8.6).
    pub fn set_buffer(&mut self, bytes: u64) {
        self.window.set_buffer(bytes);
        self.reassembly.set_most(most_ranges(bytes));
    }

    #[inline]
    fn standing(&self) -> StreamPosition {
        StreamPosition {
            next_expected: self.next_expected(),
            read: self.read,
            behind_gaps: self.reassembly.waiting_bytes(),
        }
    }

    /// The window last announced, as the range of acceptable offsets.
    #[inline]
    #[must_use]
    pub fn acceptable(&self) -> Range<u64> {
        self.next_expected()..self.window.announced().max(self.next_expected())
    }

    /// Whether everything up to `end` fits, no gap waits to be filled, and no end of the stream is
    /// known.
    #[inline]
    #[must_use]
    pub fn has_room_in_order(&self, end: u64) -> bool {
        end <= self.window.announced() && !self.reassembly.has_gaps() && self.fin.is_none()
    }

    /// Whether an acknowledgment must go out now.
    #[inline]
    #[must_use]
    pub const fn ack_due(&self) -> bool {
        self.delayed.is_due()
    }

    /// Time at which a delayed acknowledgment must be sent; [`Instant::FAR_FUTURE`] if no
    /// acknowledgment is delayed.
    #[inline]
    #[must_use]
    pub const fn next_wakeup(&self) -> Instant {
        self.delayed.deadline()
    }

    /// Makes a delayed acknowledgment due once its time has come.
    pub fn on_wakeup(&mut self, now: Instant) {
        self.delayed.on_wakeup(now);
    }

    /// Records that a segment with an acknowledgment was sent.
    #[inline]
    pub const fn on_ack_sent(&mut self) {
        self.delayed.on_sent();
    }

    /// The forecast that the next acknowledgment carries at `now`, if this receiver makes any,
    /// where a full segment has `segment` bytes.
    #[inline]
    pub fn forecast(&mut self, now: Instant, segment: u32) -> Option<Forecast> {
        let arrived = self.next_expected() + self.reassembly.waiting_bytes();
        self.report.forecast(now, arrived, segment)
    }

    /// Whether the next acknowledgment has SACK blocks or a forecast.
    #[inline]
    #[must_use]
    pub fn has_report(&self) -> bool {
        self.report.has_something(&self.reassembly)
    }

    /// Writes the ranges that the next acknowledgment reports into `ranges`, the most urgent first,
    /// and returns their number (RFC 2018 §4, RFC 2883 §4).
    #[inline]
    pub fn take_report(&mut self, ranges: &mut [Range<u64>; MAX_REPORTED]) -> usize {
        if !self.has_report() {
            return 0;
        }
        self.report.take(&self.reassembly, ranges)
    }
}

#[cfg(test)]
mod tests;

//! Building the segments to send.

use core::array;
use core::ops::Range;

use airtcp_packet::{Flags, SackBlock, SackBlocks, Segment, SequenceNumber};
use airtcp_units::Instant;

use super::{Connection, State, at};
use crate::receiver::MAX_REPORTED;
use crate::sender::Transmission;

impl Connection {
    /// Returns the next segment to send at `now`; call until it returns `None`.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        if self.has_no_more_than_an_acknowledgment(now) {
            if !self.receiver.ack_due() {
                return None;
            }
            if !self.receiver.has_report() {
                return Some(self.acknowledgment(now, self.sender.nxt()));
            }
        }
        self.poll_segment(now)
    }

    #[inline(never)]
    fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        if let Some(rare) = &mut self.rare
            && let Some(segment) = rare.take_segment()
        {
            return Some(segment);
        }
        match self.state {
            State::Closed | State::Listen => None,
            State::SynSent => self.poll_handshake(now),
            State::SynReceived => self.poll_handshake(now).or_else(|| {
                if self.is_open_early() {
                    return self.poll_synchronized(now);
                }
                // An unacceptable segment is answered here, too (RFC 9293 §3.10.7.4, first check;
                // Linux, `tcp_check_req`): a peer that met a closed window learns that it has
                // opened.
                let is_due = self.receiver.ack_due();
                is_due.then(|| self.acknowledgment(now, self.sender.nxt()))
            }),
            _ => self.poll_synchronized(now),
        }
    }

    #[inline]
    fn poll_synchronized(&mut self, now: Instant) -> Option<Segment> {
        if self.probe_due || self.acks_out_of_turn > 0 {
            return Some(self.out_of_turn(now));
        }
        if self.ecn.is_accurate() && self.reflects_syn_ack() {
            return Some(self.acknowledgment(now, self.sender.nxt()));
        }
        // SACK blocks go ahead in a separate segment: a data segment has no room for them.
        if self.receiver.ack_due()
            && let Some(report) = self.report(now)
        {
            return Some(report);
        }
        if let Some(transmission) = self.sender.poll(now) {
            return Some(self.data(now, &transmission));
        }
        self.receiver
            .ack_due()
            .then(|| self.acknowledgment(now, self.sender.nxt()))
    }

    /// Returns a window probe, or an acknowledgment that does not wait for data.
    #[cold]
    fn out_of_turn(&mut self, now: Instant) -> Segment {
        if self.probe_due {
            self.probe_due = false;
            return self.window_probe(now);
        }
        self.acks_out_of_turn -= 1;
        self.report(now)
            .unwrap_or_else(|| self.acknowledgment(now, self.sender.nxt()))
    }

    /// Returns an acknowledgment with SACK blocks or a forecast, if there are any to report.
    #[inline]
    fn report(&mut self, now: Instant) -> Option<Segment> {
        if !self.receiver.has_report() {
            return None;
        }
        let mut ranges: [Range<u64>; MAX_REPORTED] = array::from_fn(|_| 0..0);
        let count = self.receiver.take_report(&mut ranges);
        let forecast = self.receiver.forecast(now, self.sender.agreed_payload());
        (count > 0 || forecast.is_some()).then(|| {
            let mut segment = self.acknowledgment(now, self.sender.nxt());
            segment.tail = self.sack_blocks(&ranges[..count]).into();
            if let Some(forecast) = forecast {
                segment.set_forecast(forecast);
            }
            segment
        })
    }

    #[inline]
    fn data(&mut self, now: Instant, transmission: &Transmission) -> Segment {
        let range = &transmission.range;
        let mut segment = self.acknowledgment(now, range.start);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a segment is at most 64 KiB"
        )]
        {
            segment.payload_bytes = (range.end - range.start) as u32;
        }
        if transmission.fin {
            segment.flags |= Flags::FIN;
        }
        let ends = transmission.pushed
            || range.end == self.sender.written()
            || transmission.retransmission && self.ends_refused_syn_data(range.end);
        if ends && range.end > range.start {
            segment.flags |= Flags::PSH;
        }
        self.receiver.on_data_sent(now);
        self.make_markable(&mut segment, transmission.retransmission);
        segment
    }

    /// Builds a segment without data at stream offset `offset` that acknowledges the data received.
    #[inline]
    pub(super) fn acknowledgment(&mut self, now: Instant, offset: u64) -> Segment {
        // Called in a freeze too: a read must not ask for another acknowledgment each time.
        let window = self.receiver.window();
        let window = if self.frozen { 0 } else { window };
        self.receiver.on_ack_sent();
        self.timestamps.on_ack_sent(self.receiver.next_expected());
        if self.ecn.is_accurate() {
            return self.counting(now, offset, window);
        }
        self.bare(now, offset, window)
    }

    /// The same, if it reports the number of marks counted.
    #[cold]
    fn counting(&mut self, now: Instant, offset: u64, window: u64) -> Segment {
        let segment = self.bare(now, offset, window);
        self.on_count_sent();
        segment
    }

    #[inline]
    fn bare(&self, now: Instant, offset: u64, window: u64) -> Segment {
        Segment {
            sequence: self.sequence(offset),
            acknowledgment: at(self.irs, self.receiver.next_expected()),
            flags: self.echo_flags(),
            window: u16::try_from(window >> self.our_scale).unwrap_or(u16::MAX),
            timestamps: self.timestamps.option(now, || self.clock()),
            ..Segment::default()
        }
    }

    /// Builds a segment just below the peer's window, which it must answer (RFC 9293 §3.10.7.4):
    /// unlike a byte of new data, it leaves our state unchanged if the window stays closed. The
    /// peer reads nothing else in it, so it acknowledges nothing and opens no window.
    fn window_probe(&self, now: Instant) -> Segment {
        let window = self.receiver.acceptable();
        // Below the first unacknowledged byte, which a peer that shrank its window may lack.
        let mut segment = self.bare(now, self.sender.una(), window.end - window.start);
        segment.sequence = SequenceNumber(segment.sequence.0.wrapping_sub(1));
        segment
    }

    fn sack_blocks(&self, ranges: &[Range<u64>]) -> SackBlocks {
        let fits = if self.timestamps.enabled {
            MAX_REPORTED - 1
        } else {
            MAX_REPORTED
        };
        let mut blocks = SackBlocks::new();
        for range in ranges.iter().take(fits) {
            blocks.push(SackBlock {
                start: at(self.irs, range.start),
                end: at(self.irs, range.end),
            });
        }
        blocks
    }

    /// Builds a reset (RFC 9293 §3.10.5): it carries the next sequence number.
    pub(super) fn own_reset(&mut self, now: Instant) -> Segment {
        let mut segment = self.acknowledgment(now, self.sender.nxt());
        segment.flags = Flags::RST | Flags::ACK;
        segment
    }

    /// Answers a segment that belongs to no connection (RFC 9293 §3.10.7.1).
    pub(super) fn answer_stray(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        let reset = if segment.flags.contains(Flags::ACK) {
            Segment {
                sequence: segment.acknowledgment,
                flags: Flags::RST,
                ..Segment::default()
            }
        } else {
            let behind = segment.sequence.0.wrapping_add(segment.sequence_length());
            Segment {
                acknowledgment: SequenceNumber(behind),
                flags: Flags::RST | Flags::ACK,
                ..Segment::default()
            }
        };
        self.rare_mut().set_reset(reset);
    }
}

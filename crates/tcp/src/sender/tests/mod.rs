//! Packet traces: arrivals in time, and the sender's output.

mod bpf;
mod expiry;
mod external;
mod keys;
mod marks;
mod quic;
mod recovery;
mod sack;
mod shut_window;
mod spurious;
mod tail_probe;
mod timer_scope;
mod windows;

use std::fmt::Write as _;
use std::ops::Range;

use airtcp_units::{Duration, Instant};

use super::*;
use crate::config::{
    LossDetection, Profile, QuirksConfig, Recovery, Retransmission, RttSampling, ShortTrains,
    TimeoutConfig,
};
use crate::observer::Event;
use crate::rtt::Echo;

const MSS: u64 = 1000;

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

/// A sender and its clock. Offsets are given and printed in segments.
struct Trace {
    sender: Sender,
    now: Instant,
    right_edge: u64,
    events: Vec<Event>,
}

/// Segments of 1000 bytes, congestion avoidance from ten of them on, no limited transmit: windows
/// are easy to count.
fn plain() -> Config {
    Config {
        mss: 1000,
        initial_window: 10,
        initial_ssthresh: Some(10 * MSS),
        limited_transmit: false,
        ..Config::default()
    }
}

impl Trace {
    /// Established at zero with a round trip of 100 ms, so that the RTO is 300 ms, towards a peer
    /// with room for a thousand segments.
    fn new(config: Config) -> Self {
        let mut sender = Sender::new(&config, config.mss);
        sender.on_established(1000 * MSS, Some(milliseconds(100)), None);
        Self {
            sender,
            now: Instant::ZERO,
            right_edge: 1000 * MSS,
            events: Vec::new(),
        }
    }

    /// Advances the time to this many milliseconds after the start.
    fn at(&mut self, value: u64) -> &mut Self {
        self.now = Instant::ZERO + milliseconds(value);
        self
    }

    /// Writes segments as the application.
    fn write(&mut self, segments: u64) -> &mut Self {
        self.sender.write(segments * MSS);
        self
    }

    /// The segments sent now: their numbers, `*` for a retransmission, `F` for a FIN, and the
    /// length in bytes unless it is one segment.
    fn poll(&mut self) -> String {
        let mut text = String::new();
        while let Some(Transmission {
            range,
            fin,
            retransmission,
            ..
        }) = self.sender.poll(self.now)
        {
            let number = range.start / MSS;
            let _ = write!(text, "{}{number}", if text.is_empty() { "" } else { " " });
            let bytes = range.end - range.start;
            if bytes != MSS {
                let _ = write!(text, "({bytes})");
            }
            text += if fin { "F" } else { "" };
            text += if retransmission { "*" } else { "" };
        }
        assert!(self.sender.in_flight() <= 2 * (self.sender.nxt() - self.sender.una()));
        text
    }

    fn take(&mut self, acknowledgment: &Acknowledgment<'_>) {
        let (now, events) = (self.now, &mut self.events);
        self.sender
            .on_acknowledgment(now, acknowledgment, &mut |_, event| events.push(event));
    }

    /// A bare acknowledgment of everything below byte `offset`.
    fn ack_bytes(&mut self, offset: u64) -> &mut Self {
        let right_edge = self.right_edge;
        self.take(&Acknowledgment {
            offset,
            right_edge,
            bare: true,
            sack: &[],
            echo: None,
            marked: false,
            brakes: false,
            counted: None,
        });
        self
    }

    /// A bare acknowledgment of the segments below `segment`; returns the segments sent then.
    fn ack(&mut self, segment: u64) -> String {
        self.ack_bytes(segment * MSS).poll()
    }

    /// With blocks of segments.
    fn sack(&mut self, segment: u64, blocks: &[Range<u64>]) -> String {
        self.sack_quietly(segment, blocks).poll()
    }

    /// The same, without polling.
    fn sack_quietly(&mut self, segment: u64, blocks: &[Range<u64>]) -> &mut Self {
        let sack: Vec<_> = blocks
            .iter()
            .map(|block| block.start * MSS..block.end * MSS)
            .collect();
        let right_edge = self.right_edge;
        let offset = segment * MSS;
        self.take(&Acknowledgment {
            offset,
            right_edge,
            bare: true,
            sack: &sack,
            echo: None,
            marked: false,
            brakes: false,
            counted: None,
        });
        self
    }

    /// With the echo of a segment sent at this many milliseconds.
    fn echo(&mut self, segment: u64, sent_at: u64) -> String {
        let sent_at = Instant::ZERO + milliseconds(sent_at);
        let echo = Some(Echo {
            sent_at,
            rtt: self.now - sent_at,
        });
        let right_edge = self.right_edge;
        let offset = segment * MSS;
        self.take(&Acknowledgment {
            offset,
            right_edge,
            bare: true,
            sack: &[],
            echo,
            marked: false,
            brakes: false,
            counted: None,
        });
        self.poll()
    }

    /// Moves the end of the peer's window to this byte.
    fn window(&mut self, right_edge: u64) -> &mut Self {
        self.right_edge = right_edge;
        let offset = self.sender.una();
        self.ack_bytes(offset)
    }

    /// Wakes the sender; returns whether a window probe should be sent.
    fn wake(&mut self) -> bool {
        let (now, events) = (self.now, &mut self.events);
        self.sender
            .on_wakeup(now, &mut |_, event| events.push(event))
    }

    /// Advances to the next wake-up. Returns the time until then, and whether a window probe should
    /// be sent.
    fn wake_when_due(&mut self) -> (Duration, bool) {
        let before = std::mem::replace(&mut self.now, self.sender.next_wakeup());
        assert!(self.now < Instant::FAR_FUTURE, "no timer runs");
        (self.now - before, self.wake())
    }

    /// Time of the next wake-up, in milliseconds; `None` for never.
    fn next_ms(&self) -> Option<u64> {
        let next = self.sender.next_wakeup();
        (next < Instant::FAR_FUTURE).then(|| (next - Instant::ZERO).as_nanos() / 1_000_000)
    }

    /// The window without inflation, in bytes.
    fn cwnd(&self) -> u64 {
        self.sender.cwnd()
    }

    fn rto_ms(&self) -> u64 {
        self.sender.rto().as_nanos() / 1_000_000
    }

    fn is_open(&self) -> bool {
        matches!(self.sender.phase(), Phase::Open)
    }

    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

#[test]
fn a_new_sender_has_nothing_to_do() {
    let mut trace = Trace::new(plain());
    assert_eq!(trace.poll(), "");
    assert_eq!(trace.next_ms(), None);
    let sender = &trace.sender;
    assert_eq!((sender.una(), sender.nxt(), sender.written()), (0, 0, 0));
    assert_eq!(
        (sender.right_edge(), sender.mss(), sender.cwnd()),
        (1000 * MSS, MSS, 10 * MSS)
    );
    assert_eq!(sender.ssthresh(), Some(10 * MSS));
    assert_eq!(sender.rtt().srtt(), Some(milliseconds(100)));
    assert!(!sender.is_closed() && !sender.is_finished());
    assert_eq!(sender.counters(), Counters::default());
    assert_eq!(Sender::new(&Config::default(), 1000).ssthresh(), None);
    assert_eq!(Sender::new(&Config::default(), 1000).right_edge(), 0);
}

#[test]
fn sends_what_was_written_and_the_fin_behind_it() {
    let mut trace = Trace::new(plain());
    trace.write(2);
    trace.sender.write(500);
    assert_eq!(trace.poll(), "0 1 2(500)");
    trace.sender.close();
    trace.sender.write(5000);
    assert!(trace.sender.is_closed());
    assert_eq!(trace.poll(), "2(0)F");
    assert_eq!((trace.sender.nxt(), trace.sender.written()), (2501, 2500));
    assert_eq!(trace.poll(), "");
    trace.at(100).ack_bytes(2500);
    assert!(!trace.sender.is_finished());
    trace.ack_bytes(2501);
    assert!(trace.sender.is_finished());
    assert_eq!(trace.next_ms(), None);
    let counters = trace.sender.counters();
    assert_eq!(
        (counters.segments_sent, counters.segments_retransmitted),
        (4, 0)
    );
}

#[test]
fn a_fin_goes_with_the_last_bytes_and_is_sent_again_with_them() {
    let mut trace = Trace::new(plain());
    trace.write(1).sender.write(1);
    trace.sender.close();
    assert_eq!(trace.poll(), "0 1(1)F");
    trace.at(100).ack_bytes(MSS);
    assert_eq!(trace.next_ms(), Some(350), "RTO = 100 + 4 × 37.5");
    trace.at(500).wake();
    assert_eq!(trace.poll(), "1(1)F*");
    assert_eq!(trace.sender.counters().bytes_retransmitted, 1);
    // A partial acknowledgment of both.
    trace.at(600).ack_bytes(MSS + 1);
    assert!(!trace.sender.is_finished());
    trace.at(5000).wake();
    assert_eq!(trace.poll(), "1(0)F*");
    assert_eq!(trace.sender.counters().bytes_retransmitted, 1);
    trace.ack_bytes(MSS + 2);
    assert!(trace.sender.is_finished());
}

/// At most half the space of offsets, so that nothing overflows.
#[test]
fn an_absurd_amount_can_be_written() {
    let mut trace = Trace::new(plain());
    trace.sender.write(u64::MAX);
    trace.sender.write(u64::MAX);
    trace.sender.close();
    assert_eq!(trace.poll(), "0 1 2 3 4 5 6 7 8 9");
    assert_eq!(trace.sender.written(), u64::MAX / 2);
}

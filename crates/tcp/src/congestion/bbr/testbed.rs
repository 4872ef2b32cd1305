//! The path that the tests of both versions send over: 1 MB/s and 100 ms, a product of a hundred
//! segments.

use airtcp_units::{Duration, Instant};

use crate::congestion::model::Model;
use crate::congestion::windows::Windows;
use crate::congestion::{Ack, Repairing};
use crate::delivery_rate::RateSample;

pub const MSS: u64 = 1000;
pub const BANDWIDTH: u64 = 1_000_000;
pub const RTT: Duration = Duration::from_millis(100);
pub const START: Instant = Instant::from_nanos(1_000_000_000);

pub fn after(milliseconds: u64) -> Instant {
    START + Duration::from_millis(milliseconds)
}

/// A window of `segments`.
pub fn windows(segments: u64) -> Windows {
    Windows {
        mss: MSS,
        cwnd: segments * MSS,
        ssthresh: u64::MAX,
        max: u64::MAX,
    }
}

/// An acknowledgment at `now` with `in_flight` segments before and after it, and nothing else.
pub fn plain(now: Instant, in_flight: u64) -> Ack {
    Ack {
        now,
        delivered: 0,
        marked: 0,
        lost: 0,
        rtt: None,
        minimum_rtt: RTT,
        srtt: RTT,
        una: 0,
        nxt: 0,
        in_flight_before: in_flight * MSS,
        held_back: 0,
        in_flight: in_flight * MSS,
        next_departure: now,
        delivered_in_all: 700 * MSS,
        lost_in_all: 0,
        rate: None,
        repairing: Repairing::Nothing,
    }
}

/// A sample of `rate` bytes a second.
pub fn sample_of(rate: u64) -> RateSample {
    RateSample {
        delivered: rate / 10,
        interval: RTT,
        prior_delivered: 0,
        lost: 0,
        in_flight_at_send: 0,
        application_limited: false,
    }
}

/// A path that delivers the data sent, up to its bandwidth.
pub struct Path<R> {
    pub bbr: R,
    pub windows: Windows,
    pub now: Instant,
    pub delivered: u64,
}

impl<R: Model> Path<R> {
    pub fn new(start: impl FnOnce(&Windows) -> R) -> Self {
        let windows = windows(10);
        Self {
            bbr: start(&windows),
            windows,
            now: START,
            delivered: 0,
        }
    }

    /// One round trip of ten acknowledgments, evenly spaced, with `in_flight` bytes in the network;
    /// each reveals the loss of `lost` bytes.
    pub fn round(&mut self, in_flight: u64, lost: u64) {
        let pace = self.bbr.demands().pacing_rate.as_bps() / 8;
        let (rate, start) = (pace.min(BANDWIDTH), self.delivered);
        for _ in 0..10 {
            self.deliver(rate / 100, start, in_flight, lost);
        }
    }

    /// One acknowledgment, at the bandwidth.
    pub fn acknowledge(&mut self, in_flight: u64) {
        let start = self.delivered.saturating_sub(BANDWIDTH / 10);
        self.deliver(BANDWIDTH / 100, start, in_flight, 0);
    }

    /// An acknowledgment of `bytes` after 10 ms, sent when `start` bytes had been delivered.
    fn deliver(&mut self, bytes: u64, start: u64, in_flight: u64, lost: u64) {
        self.now += Duration::from_millis(10);
        self.delivered += bytes;
        let sample = RateSample {
            prior_delivered: start,
            lost,
            in_flight_at_send: in_flight,
            ..sample_of(bytes * 100)
        };
        let ack = Ack {
            delivered: bytes,
            lost,
            rtt: Some(RTT),
            in_flight_before: in_flight,
            held_back: 0,
            in_flight,
            delivered_in_all: self.delivered,
            rate: Some(sample),
            ..plain(self.now, 0)
        };
        self.bbr.observe(&ack, &mut self.windows);
    }
}

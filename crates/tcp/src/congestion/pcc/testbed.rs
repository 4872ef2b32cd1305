//! Acknowledgments by hand, and a path of constant rate, for the tests of models.

use std::collections::VecDeque;

use airtcp_units::{BitRate, Duration, Instant};

use crate::congestion::model::Model;
use crate::congestion::windows::Windows;
use crate::congestion::{Ack, Repairing};
use crate::delivery_rate::RateSample;

pub const MSS: u64 = 1000;

pub const fn windows() -> Windows {
    Windows {
        mss: MSS,
        cwnd: 10 * MSS,
        ssthresh: u64::MAX,
        max: u64::MAX,
    }
}

/// An acknowledgment of a segment, with `in_flight` bytes in the network after it.
pub const fn ack(now: Instant, rtt: Option<Duration>, in_flight: u64) -> Ack {
    let usual = Duration::from_millis(30);
    Ack {
        now,
        delivered: MSS,
        marked: 0,
        lost: 0,
        rtt,
        minimum_rtt: usual,
        srtt: usual,
        una: 0,
        nxt: 1,
        in_flight_before: in_flight + MSS,
        held_back: 0,
        in_flight,
        next_departure: now,
        delivered_in_all: 0,
        lost_in_all: 0,
        rate: None,
        repairing: Repairing::Nothing,
    }
}

/// A path: its rate, its round trip without a queue, segments that its queue holds, and its random
/// losses, every so manieth segment.
pub struct Path {
    pub rate: BitRate,
    pub rtt: Duration,
    pub queue: u64,
    pub loses_every: Option<u64>,
}

/// The delivery of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    pub at: Instant,
    /// Time in the queue.
    pub queued: Duration,
    pub pace: BitRate,
}

/// A segment that is not yet answered.
struct Flying {
    answered: Instant,
    sent: Instant,
    queued: Duration,
    is_lost: bool,
    /// Bytes in flight with it.
    in_flight: u64,
}

/// The deliveries of a sender that is alone on `path` for `seconds`.
pub fn alone(model: &mut impl Model, path: &Path, seconds: u64) -> Vec<Delivered> {
    let mut windows = windows();
    let service = path.rate.transmission_time(MSS);
    let end = Instant::ZERO + Duration::from_secs(seconds);
    let mut flying: VecDeque<Flying> = VecDeque::new();
    let (mut free, mut next) = (Instant::ZERO, Instant::ZERO);
    let (mut sent, mut delivered, mut lost, mut told) = (0_u64, 0, 0, 0);
    let mut srtt = 0;
    let mut is_hit = false;
    let mut seen = Vec::new();
    loop {
        let answered = flying.front().map(|one| one.answered);
        let has_room = flying.len() as u64 * MSS + MSS <= windows.cwnd;
        if has_room && answered.is_none_or(|at| next < at) {
            let now = next;
            sent += 1;
            let queued = free.max(now) - now;
            let is_full = queued.as_nanos() / service.as_nanos() >= path.queue;
            let is_lost = is_full || path.loses_every.is_some_and(|every| sent % every == 0);
            if !is_full {
                free = free.max(now) + service;
            }
            flying.push_back(Flying {
                answered: free.max(now) + path.rtt,
                sent: now,
                queued,
                is_lost,
                in_flight: (flying.len() as u64 + 1) * MSS,
            });
            next = now + model.demands().pacing_rate.transmission_time(MSS);
            continue;
        }
        let Some(segment) = flying.pop_front() else {
            return seen;
        };
        let now = segment.answered;
        if now >= end {
            return seen;
        }
        if segment.is_lost {
            lost += MSS;
            is_hit = true;
            next = next.max(now);
            continue;
        }
        delivered += MSS;
        let rtt = now - segment.sent;
        srtt = if srtt == 0 {
            rtt.as_nanos()
        } else {
            (7 * srtt + rtt.as_nanos()) / 8
        };
        let mut one = ack(now, Some(rtt), flying.len() as u64 * MSS);
        (one.delivered_in_all, one.lost_in_all) = (delivered, lost);
        (one.lost, told) = (lost - told, lost);
        one.minimum_rtt = path.rtt + service;
        one.srtt = Duration::from_nanos(srtt);
        one.rate = Some(RateSample {
            delivered: MSS,
            interval: rtt,
            prior_delivered: delivered - MSS,
            lost: 0,
            in_flight_at_send: segment.in_flight,
            application_limited: false,
        });
        if is_hit {
            model.on_loss(&windows);
            is_hit = false;
        }
        model.observe(&one, &mut windows);
        next = next.max(now);
        seen.push(Delivered {
            at: now,
            queued: segment.queued,
            pace: model.demands().pacing_rate,
        });
    }
}

/// Share of the path that the deliveries of the second half use.
#[expect(clippy::cast_precision_loss, reason = "a test's counts are small")]
pub fn utilization(seen: &[Delivered], path: &Path, seconds: u64) -> f64 {
    let half = Instant::ZERO + Duration::from_secs(seconds / 2);
    let count = seen.iter().filter(|one| one.at >= half).count() as u64;
    let most =
        Duration::from_secs(seconds / 2).as_nanos() / path.rate.transmission_time(MSS).as_nanos();
    count as f64 / most as f64
}

//! A real-time media flow with SCReAM (RFC 8298): frames of an encoder wait in a queue, a window
//! that is clocked by feedback lets their packets go, and the encoder's rate follows theirs.
//!
//! ```text
//!   encoder ── frames ──▶ queue ── packets ──▶ receiver
//!      ▲                    │ window ◀─ feedback ─┘
//!      └─── target rate ────┘
//! ```
//!
//! Left open by the RFC, or simpler here: one stream; an encoder that meets its target in each
//! frame; no frame is dropped from the sender's queue; packets are not ECN-capable.

mod rate;
mod receiver;
mod window;

use std::collections::VecDeque;

use airtcp_scenario::Scream;
use airtcp_units::{Duration, Instant};

use rate::MediaRate;
pub(super) use receiver::{Receiver, Report};
use window::{Feedback, Window};

/// Least rate at which packets are paced, in bits a second (RFC 8298 §4.1.1.1, `RATE_PACE_MIN`).
const RATE_PACE_MIN: f64 = 50_000.0;
/// Time after which a packet leaves whatever the window, so that a path is tried once more when it
/// has lost all of it; the RFC leaves that open.
const PROBE_AFTER: Duration = Duration::from_millis(500);
/// Minima of the one-way delay that are kept, and the time of each (RFC 6817 §2.4.2, as RFC 8298
/// §4.1.2 has it).
const BASE_HISTORY: usize = 10;
const BASE_SPAN: Duration = Duration::from_secs(60);

/// A packet that is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    index: u64,
    bytes: u32,
    at: Instant,
    has_arrived: bool,
    /// When feedback first reported that a later packet had arrived, and whether it counts as lost.
    missed: Option<Instant>,
    is_lost: bool,
}

/// The sending end.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Scream,
    window: Window,
    media: MediaRate,
    next_frame: Instant,
    /// Bytes of the packets that wait, and of the part of a byte that a frame lacked.
    waiting: VecDeque<u32>,
    fraction: f64,
    /// From the oldest packet whose fate is open on.
    sent: VecDeque<Sent>,
    /// One more than the number of the newest packet acknowledged.
    acknowledged: u64,
    in_flight: u64,
    qdelay: f64,
    base: Base,
    srtt: Option<f64>,
    next_departure: Instant,
    last_departure: Instant,
    /// When the round trip began in which at most one loss counts.
    round_began: Instant,
    /// By how long packets have been overtaken.
    reordering: Duration,
}

/// The least one-way delays of the last ten minutes.
#[derive(Clone, Debug, Default)]
struct Base {
    minima: VecDeque<(Instant, Duration)>,
}

impl Base {
    /// Takes a delay, and returns by how much it exceeds the least, in seconds.
    fn excess(&mut self, now: Instant, delay: Duration) -> f64 {
        match self.minima.back_mut() {
            Some((since, least)) if now - *since < BASE_SPAN => *least = delay.min(*least),
            _ => self.minima.push_back((now, delay)),
        }
        if self.minima.len() > BASE_HISTORY {
            self.minima.pop_front();
        }
        let least = self.minima.iter().map(|(_, least)| *least).min();
        (delay - least.unwrap_or(delay)).as_secs_f64()
    }
}

impl Sender {
    /// The sender of a flow that starts at `start`.
    pub fn new(config: Scream, start: Instant) -> Self {
        Self {
            window: Window::new(start),
            media: MediaRate::new(start, config.start, config.least, config.most),
            next_frame: start,
            waiting: VecDeque::new(),
            fraction: 0.0,
            sent: VecDeque::new(),
            acknowledged: 0,
            in_flight: 0,
            qdelay: 0.0,
            base: Base::default(),
            srtt: None,
            next_departure: start,
            last_departure: start,
            round_began: start,
            reordering: Duration::ZERO,
            config,
        }
    }

    /// Time of the next action.
    pub fn next(&self) -> Instant {
        let next = self.next_frame.min(self.media.next());
        match self.waiting.front() {
            Some(&bytes) if self.has_room(bytes) => next.min(self.next_departure),
            Some(_) => next.min(self.last_departure + PROBE_AFTER),
            None => next,
        }
    }

    /// Encodes the frame, and adjusts the rate, that are due at `now`.
    pub fn wake(&mut self, now: Instant) {
        while self.next_frame <= now {
            self.next_frame += self.config.frame;
            self.encode();
        }
        let waiting = self.waiting.iter().map(|&bytes| u64::from(bytes)).sum();
        self.media.adjust(now, &self.window, waiting);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "bytes of a frame, rounded in this place"
    )]
    fn encode(&mut self) {
        let frame = self.media.target() / 8.0 * self.config.frame.as_secs_f64() + self.fraction;
        let mut bytes = (frame as u64).max(1);
        self.fraction = frame - bytes as f64;
        self.media.on_encoded(bytes);
        while bytes > 0 {
            let packet = bytes.min(u64::from(self.config.size)) as u32;
            self.waiting.push_back(packet);
            bytes -= u64::from(packet);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes in flight")]
    fn has_room(&self, bytes: u32) -> bool {
        (self.in_flight + u64::from(bytes)) as f64 <= self.window.allowed(self.qdelay)
    }

    /// The payload of the packet that leaves at `now`, if one may.
    pub fn poll(&mut self, now: Instant) -> Option<u32> {
        let bytes = *self.waiting.front()?;
        let is_probe = now >= self.last_departure + PROBE_AFTER;
        if now < self.next_departure || !(self.has_room(bytes) || is_probe) {
            return None;
        }
        self.waiting.pop_front()
    }

    /// Records that packet number `index` of `bytes` of payload left at `now`; the next follows at
    /// the pace of a window a round trip (§4.1.2.6).
    pub fn on_sent(&mut self, now: Instant, index: u64, bytes: u32) {
        self.sent.push_back(Sent {
            index,
            bytes,
            at: now,
            has_arrived: false,
            missed: None,
            is_lost: false,
        });
        self.in_flight += u64::from(bytes);
        self.window.on_flight(now, self.in_flight);
        self.media.on_sent(u64::from(bytes));
        let round_trip = self.srtt.unwrap_or(0.0).max(1e-3);
        let pace = (self.window.bytes() * 8.0 / round_trip).max(RATE_PACE_MIN);
        let gap = Duration::from_secs_f64(f64::from(bytes) * 8.0 / pace);
        self.last_departure = now;
        self.next_departure = now + gap.unwrap_or(Duration::ZERO);
    }

    /// Takes feedback that arrived at `now`.
    pub fn on_report(&mut self, now: Instant, report: &Report) {
        let acked = self.acknowledge(report);
        let is_lost = self.take_losses(now, report);
        if acked > 0 {
            self.qdelay = self.base.excess(now, report.arrived - report.sent);
            let round_trip = (now - report.sent).as_secs_f64();
            let srtt = self.srtt.unwrap_or(round_trip);
            self.srtt = Some(srtt + (round_trip - srtt) / 8.0);
        }
        let round_trip = self
            .srtt
            .and_then(Duration::from_secs_f64)
            .unwrap_or_default();
        let ends_round = now >= self.round_began + round_trip;
        let is_lossy = is_lost && ends_round;
        if ends_round {
            self.round_began = now;
        }
        self.media.on_feedback(acked, is_lossy);
        self.window.on_feedback(&Feedback {
            now,
            qdelay: self.qdelay,
            acked,
            in_flight: self.in_flight,
            is_lossy,
            ends_round,
        });
    }

    /// Notes the arrivals; returns the bytes up to the newest that were not acknowledged
    /// before, whether they have arrived or not.
    fn acknowledge(&mut self, report: &Report) -> u64 {
        let mut acked = 0;
        let known = self.acknowledged;
        for sent in self.sent.iter().filter(|sent| sent.index >= known) {
            if sent.index <= report.newest {
                acked += u64::from(sent.bytes);
            }
        }
        self.acknowledged = known.max(report.newest + 1);
        self.in_flight = self.in_flight.saturating_sub(acked);
        acked
    }

    /// Whether a packet has now been missing for longer than packets have been overtaken
    /// (§4.1.2.4).
    fn take_losses(&mut self, now: Instant, report: &Report) -> bool {
        let mut is_lost = false;
        for sent in &mut self.sent {
            if sent.index > report.newest {
                break;
            }
            if report.received.contains(&sent.index) {
                sent.has_arrived = true;
                if let Some(missed) = sent.missed {
                    self.reordering = self.reordering.max(now - missed);
                }
            }
            if !sent.has_arrived {
                let missed = *sent.missed.get_or_insert(now);
                // Counted once, but kept for a while: it may be late.
                if !sent.is_lost && now - missed >= self.reordering {
                    (sent.is_lost, is_lost) = (true, true);
                }
            }
        }
        let kept = Duration::from_secs(1);
        let is_over = |sent: &Sent| sent.has_arrived || now - sent.at > kept;
        while self
            .sent
            .front()
            .is_some_and(|sent| sent.index < self.acknowledged && is_over(sent))
        {
            self.sent.pop_front();
        }
        is_lost
    }
}

#[cfg(test)]
mod tests;

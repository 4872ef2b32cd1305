//! A stop-and-wait link: one frame at a time, retransmitted until it is acknowledged.
//!
//! ```text
//!   sender    ├─ frame ─┤                 ├─ frame ─┤
//!   receiver       ├─ frame ─┤├ ack ┤ …        ├─ frame ─┤├ ack ┤
//!                  ◀── delay ──▶
//! ```
//!
//! One direction, from the access point to a mobile. Packets larger than a frame are cut; one with
//! all fragments received is delivered. The order of packets and the time to discard one are
//! determined by the [`RetransmissionOrder`] and the retry limit.

use airtcp_units::{BitRate, Duration, Instant};

use super::damage::{Damage, DamageConfig, Frame};
use super::fragmentation::Fragments;
use super::frame_reporter::FrameReporter;
use super::outcomes::Outcomes;
use super::transmit_queue::TransmitQueue;
use crate::frame::{
    ACCESS_POINT, ChannelObserver, FrameKind, MOBILE, Offer, Outcome, PendingPacket, RetryLimit,
};
use crate::mac::Medium;
use crate::queue::QueueLimit;
use crate::random::Stream;
use crate::scheduler::RetransmissionOrder;

/// Configuration of a stop-and-wait link.
#[derive(Clone, Debug)]
pub struct ArqConfig {
    /// Rate of frames.
    pub rate: BitRate,
    /// Propagation delay of a signal.
    pub delay: Duration,
    /// Maximum number of bytes of a packet in a frame; `None` for the whole packet.
    pub frame_payload: Option<u32>,
    /// Bytes of overhead per frame.
    pub overhead: u32,
    /// Time to send the link's acknowledgment.
    pub ack_time: Duration,
    /// Maximum number of transmissions of a frame. A retransmission order by deadline replaces this
    /// by its limit.
    pub retry_limit: RetryLimit,
    /// The queue.
    pub queue: QueueLimit,
    /// The order in which failed packets are retransmitted.
    pub order: RetransmissionOrder,
    /// Errors that damage frames.
    pub damage: DamageConfig,
    /// Whether every failed attempt is reported.
    pub report_retries: bool,
}

/// An invalid configuration of a stop-and-wait link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArqError {
    /// No rate.
    #[error("a rate of 0 bit/s; expected more, or no frame would ever arrive")]
    Rate,
    /// No room in a frame.
    #[error("frames that carry 0 bytes; expected at least 1")]
    Frame,
}

impl ArqConfig {
    /// Validates the configuration.
    ///
    /// # Errors
    /// See [`ArqError`].
    pub const fn check(&self) -> Result<(), ArqError> {
        if self.rate.as_bps() == 0 {
            return Err(ArqError::Rate);
        }
        match self.frame_payload {
            Some(0) => Err(ArqError::Frame),
            _ => Ok(()),
        }
    }
}

/// The only direction: from the access point to a mobile.
const DOWN: (u32, u32) = (ACCESS_POINT, MOBILE);

/// State of the sender.
#[derive(Clone, Copy, Debug)]
enum Activity {
    Idle,
    /// A frame is on the air; its arrival time, and whether it is damaged.
    Sending {
        arrives: Instant,
        damaged: bool,
    },
    /// It has arrived; the sender learns whether it was damaged at this time, when the
    /// acknowledgment has arrived or is missing.
    Answering {
        known: Instant,
        damaged: bool,
    },
}

/// A stop-and-wait link that carries packets of type `P`.
#[derive(Clone, Debug)]
pub struct ArqLink<P> {
    config: ArqConfig,
    queue: TransmitQueue<P>,
    damage: Damage,
    activity: Activity,
    outcomes: Outcomes<P>,
}

impl<P: Copy> ArqLink<P> {
    /// An idle link; damage is drawn from `stream`.
    ///
    /// # Errors
    /// An invalid configuration; see [`ArqError`].
    pub fn new(config: &ArqConfig, stream: Stream) -> Result<Self, ArqError> {
        config.check()?;
        Ok(Self {
            queue: TransmitQueue::new(config.queue, config.order),
            damage: Damage::new(&config.damage, 2, stream),
            activity: Activity::Idle,
            outcomes: Outcomes::new(config.report_retries),
            config: config.clone(),
        })
    }

    fn send_next(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        let chosen = self.queue.select(now).copied();
        while let Some(expired) = self.queue.take_expired() {
            self.outcomes.given_up(ACCESS_POINT, &expired);
        }
        let Some(waiting) = chosen else {
            self.activity = Activity::Idle;
            return;
        };
        let payload = self.fragments(&waiting).next_bytes(waiting.fragments_done);
        let bytes = payload + self.config.overhead;
        let end = now + self.config.rate.transmission_time(u64::from(bytes));
        let class = Some(waiting.offer.class);
        let frame = Frame::between(DOWN, class, bytes, (now, end));
        let damaged = self.damage.damages(&frame);
        let mut told = FrameReporter {
            observer,
            flow: waiting.offer.flow,
            attempt: waiting.failures + 1,
        };
        told.frame(ACCESS_POINT, FrameKind::Data, (now, end), damaged);
        self.activity = Activity::Sending {
            arrives: end + self.config.delay,
            damaged,
        };
    }

    /// The receiver has a fragment; the last one completes the packet.
    fn on_received(&mut self) {
        let Some(&mut waiting) = self.queue.current() else {
            return;
        };
        if self.fragments(&waiting).is_last(waiting.fragments_done) {
            self.outcomes
                .delivered(waiting.packet, DOWN, waiting.failures + 1);
        }
    }

    fn succeed(&mut self) {
        let Some(&mut waiting) = self.queue.current() else {
            return;
        };
        if self.fragments(&waiting).is_last(waiting.fragments_done) {
            self.queue.finish();
        } else if let Some(current) = self.queue.current() {
            current.finish_fragment();
        }
    }

    fn fail(&mut self) {
        let Some(current) = self.queue.current() else {
            return;
        };
        current.fail();
        let waiting = *current;
        let limit = self.config.retry_limit;
        if !self.config.order.has_own_limit() && limit.is_reached(waiting.fragment_failures) {
            self.queue.finish();
            // A packet that has arrived is acknowledged, and does not fail.
            self.outcomes.given_up(ACCESS_POINT, &waiting);
            return;
        }
        self.queue.put_back();
        self.outcomes
            .retried(waiting.packet, DOWN, waiting.failures);
    }

    /// The fragmentation of a packet.
    fn fragments(&self, waiting: &PendingPacket<P>) -> Fragments {
        Fragments {
            packet: waiting.offer.bytes,
            most: self.config.frame_payload.unwrap_or(u32::MAX),
        }
    }
}

impl<P: Copy> Medium<P> for ArqLink<P> {
    fn push(
        &mut self,
        now: Instant,
        _: (u32, u32),
        offer: Offer,
        packet: P,
        observer: &mut impl ChannelObserver,
    ) -> bool {
        if !self.queue.push(MOBILE, offer, packet) {
            return false;
        }
        if matches!(self.activity, Activity::Idle) {
            self.send_next(now, observer);
        }
        true
    }

    fn next_wakeup(&self) -> Instant {
        match self.activity {
            Activity::Idle => Instant::FAR_FUTURE,
            Activity::Sending { arrives, .. } => arrives,
            Activity::Answering { known, .. } => known,
        }
    }

    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        if now < self.next_wakeup() {
            return;
        }
        match self.activity {
            Activity::Idle => {}
            Activity::Sending { arrives, damaged } => {
                if !damaged {
                    self.on_received();
                }
                self.activity = Activity::Answering {
                    known: arrives + self.config.ack_time + self.config.delay,
                    damaged,
                };
            }
            Activity::Answering { damaged, .. } => {
                if damaged {
                    self.fail();
                } else {
                    self.succeed();
                }
                self.send_next(now, observer);
            }
        }
    }

    fn poll(&mut self) -> Option<Outcome<P>> {
        self.outcomes.take()
    }

    /// The packet being sent is not counted.
    fn queued_packets(&self, _station: u32, _mobile: u32) -> usize {
        self.queue.len()
    }

    fn retries(&self, _station: u32, retransmitted: usize) -> usize {
        self.queue.retries(retransmitted)
    }
}

#[cfg(test)]
mod tests;

//! A selective-repeat link: frames follow one another without waiting for acknowledgments, and only
//! damaged ones are retransmitted.
//!
//! ```text
//!   sender    ├ 1 ┤├ 2 ┤├ 3 ┤├ 4 ┤     ├ 2 ┤├ 5 ┤
//!   receiver        1    ✗    3    4          2    5
//!                    ◀── retry timeout ──▶
//! ```
//!
//! Modelled on IEEE 802.16, RLC in acknowledged mode and IEEE 802.11 with a block ACK agreement.
//! With a reordering buffer 3 and 4 wait for 2 ([`Handover::InOrder`]); without one they overtake
//! it, which TCP sees as reordering ([`Handover::AsReceived`]).
//!
//! Two stations, the access point 0 and the mobile 1, with a line each way. A frame carries one
//! packet. The link's acknowledgments and its notices of discarded frames travel undamaged on a
//! separate channel, so a frame is never retransmitted after it has arrived.

mod config;
mod direction;

use airtcp_units::{Duration, Instant};

use super::damage::Damage;
use super::outcomes::Outcomes;
pub use super::resequencer::Handover;
pub use super::send_window::Window;
use crate::frame::{ACCESS_POINT, MOBILE};
use crate::frame::{ChannelObserver, Offer, Outcome};
use crate::mac::Medium;
use crate::random::Stream;
pub use config::{EndConfig, SelectiveRepeatConfig, SelectiveRepeatError};
use direction::{Direction, Shared};

/// A selective-repeat link that carries packets of type `P`.
#[derive(Clone, Debug)]
pub struct SelectiveRepeatLink<P> {
    config: SelectiveRepeatConfig,
    damage: Damage,
    up: Direction<P>,
    down: Direction<P>,
    outcomes: Outcomes<P>,
}

impl<P: Copy> SelectiveRepeatLink<P> {
    /// An idle link; damage is drawn from `stream`.
    ///
    /// # Errors
    /// An invalid configuration; see [`SelectiveRepeatError`].
    pub fn new(
        config: &SelectiveRepeatConfig,
        stream: Stream,
    ) -> Result<Self, SelectiveRepeatError> {
        config.check()?;
        let (up, down) = ((MOBILE, ACCESS_POINT), (ACCESS_POINT, MOBILE));
        Ok(Self {
            damage: Damage::new(&config.damage, 0, stream),
            up: Direction::new(up, config.mobile, config),
            down: Direction::new(down, config.access_point, config),
            outcomes: Outcomes::new(config.report_retries),
            config: config.clone(),
        })
    }

    const fn direction(&self, from: u32) -> &Direction<P> {
        if from == ACCESS_POINT {
            &self.down
        } else {
            &self.up
        }
    }

    const fn split(&mut self, from: u32) -> (&mut Direction<P>, Shared<'_, P>) {
        let direction = if from == ACCESS_POINT {
            &mut self.down
        } else {
            &mut self.up
        };
        let shared = Shared {
            config: &self.config,
            damage: &mut self.damage,
            outcomes: &mut self.outcomes,
        };
        (direction, shared)
    }
}

impl<P: Copy> Medium<P> for SelectiveRepeatLink<P> {
    fn push(
        &mut self,
        now: Instant,
        (from, _): (u32, u32),
        offer: Offer,
        packet: P,
        observer: &mut impl ChannelObserver,
    ) -> bool {
        let (direction, mut shared) = self.split(from);
        direction.push(now, offer, packet, &mut shared, observer)
    }

    fn next_wakeup(&self) -> Instant {
        self.up.next_wakeup().min(self.down.next_wakeup())
    }

    /// The uplink goes first.
    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        for from in [MOBILE, ACCESS_POINT] {
            let (direction, mut shared) = self.split(from);
            if direction.next_wakeup() <= now {
                direction.on_wakeup(now, &mut shared, observer);
            }
        }
    }

    fn poll(&mut self) -> Option<Outcome<P>> {
        self.outcomes.take()
    }

    /// Frames due for retransmission are counted too; frames in transit or with a running timer are
    /// not.
    fn queued_packets(&self, station: u32, _mobile: u32) -> usize {
        self.direction(station).queued_packets()
    }

    fn retries(&self, station: u32, retransmitted: usize) -> usize {
        self.direction(station).retries(retransmitted)
    }

    fn tells_of_acknowledgments(&self) -> bool {
        true
    }

    fn mute_acknowledgments(&mut self) {
        self.outcomes.mute_acknowledgments();
    }

    fn retry_timeout(&self) -> Option<Duration> {
        Some(self.config.retry_timeout)
    }
}

#[cfg(test)]
mod tests;

//! A cellular downlink: in every slot the base station serves one user, at the rate that the user's
//! signal allows.
//!
//! ```text
//!   queue of user 1 ─▶ ┐              slot     slot     slot
//!   queue of user 2 ─▶ ├ scheduler ─▶ [ 1 ]    [ 3 ]    [ 1 ] …  ─▶ reordering ─▶ user
//!   queue of user 3 ─▶ ┘                └ damaged: retransmitted some slots later
//! ```
//!
//! A slot carries a *block*, cut from the user's packets as a stream of bytes. A damaged block is
//! retransmitted; later blocks wait, since packets are delivered in order: this causes the delay
//! spikes of cellular links (Miyim §V, "Trace 2").

mod rate;
mod scheduler;
mod user;

use std::num::NonZeroU32;

use airtcp_units::{Duration, Instant, Probability};

use crate::fading::{Radio, SlottedRadio};
use crate::frame::{ACCESS_POINT, ChannelObserver, FrameKind, Offer, Outcome, RetryLimit};
use crate::mac::Medium;
use crate::mac::frame_reporter::FrameReporter;
use crate::mac::outcomes::Outcomes;
use crate::queue::QueueLimit;
use crate::random::Stream;
pub use rate::RateLaw;
use rate::RateTable;
use scheduler::Averages;
pub use scheduler::Scheduler;
use user::User;

/// Configuration of a cell.
#[derive(Clone, Debug)]
pub struct CellConfig {
    /// The scheduling of users.
    pub scheduler: Scheduler,
    /// Length of a slot.
    pub slot: Duration,
    /// Mapping from signal-to-noise ratio to rate.
    pub rate: RateLaw,
    /// The users' channels.
    pub radios: Vec<Radio>,
    /// Number of saturated users, the last ones: always backlogged, without TCP.
    pub saturated: u32,
    /// Chance that a block is damaged.
    pub block_error: Probability,
    /// Slots from the start of a damaged block until it may be retransmitted.
    pub arq_delay: NonZeroU32,
    /// Maximum number of transmissions of a block.
    pub retry_limit: RetryLimit,
    /// The queue of each user.
    pub queue: QueueLimit,
    /// Whether every failed attempt is reported.
    pub report_retries: bool,
}

/// An invalid cell configuration.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum CellError {
    /// The slot duration is zero.
    #[error("a slot of 0 s; expected more")]
    Slot,
    /// The cell has no users.
    #[error("no user; expected at least one")]
    Users,
    /// Not an average.
    #[error("a time constant of {0} slots; expected at least 1")]
    TimeConstant(f64),
    /// No band.
    #[error("a bandwidth of {0} Hz; expected more than 0")]
    Bandwidth(f64),
}

impl CellConfig {
    /// Validates the configuration.
    ///
    /// # Errors
    /// See [`CellError`].
    pub fn check(&self) -> Result<(), CellError> {
        if self.slot == Duration::ZERO {
            return Err(CellError::Slot);
        }
        if self.radios.is_empty() {
            return Err(CellError::Users);
        }
        self.scheduler.check()?;
        self.rate.check()
    }
}

/// A cell that carries packets of type `P`.
#[derive(Clone, Debug)]
pub struct Cell<P> {
    config: CellConfig,
    rates: RateTable,
    radios: Vec<SlottedRadio>,
    users: Vec<User<P>>,
    averages: Averages,
    errors: Stream,
    /// Number of the next slot.
    slot: u64,
    /// The user of the block on the air, until the slot ends.
    on_air: Option<u32>,
    /// Start of the next slot; [`Instant::FAR_FUTURE`] when there is nothing to do.
    wakeup: Instant,
    outcomes: Outcomes<P>,
}

impl<P: Copy> Cell<P> {
    /// A cell with empty queues; damage is drawn from `stream`.
    ///
    /// # Errors
    /// An invalid configuration; see [`CellError`].
    pub fn new(config: &CellConfig, stream: Stream) -> Result<Self, CellError> {
        config.check()?;
        let count = config.radios.len();
        let saturated = (config.saturated as usize).min(count);
        let users = (0..count)
            .map(|user| User::new(config.queue, user >= count - saturated))
            .collect();
        let wakeup = if saturated > 0 {
            Instant::ZERO
        } else {
            Instant::FAR_FUTURE
        };
        let slotted = |radio| SlottedRadio::new(radio, config.slot);
        Ok(Self {
            rates: RateTable::new(config.rate),
            radios: config.radios.iter().map(slotted).collect(),
            users,
            averages: Averages::new(config.scheduler, count),
            errors: stream,
            slot: 0,
            on_air: None,
            wakeup,
            outcomes: Outcomes::new(config.report_retries),
            config: config.clone(),
        })
    }

    /// Capacity of all slots of user `to`, from 1, in bits.
    #[must_use]
    pub fn served_bits(&self, to: u32) -> f64 {
        self.users
            .get(place_of(to))
            .map_or(0.0, |user| user.served_bits)
    }

    fn start_of(&self, slot: u64) -> Instant {
        Instant::ZERO + self.config.slot * slot
    }

    /// Gives the slot to a user, if the signal of any allows a rate.
    fn serve(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        let slot = self.slot;
        let rates = &self.rates;
        // Channels are evaluated only for users with a backlog.
        let wanted = self
            .radios
            .iter_mut()
            .zip(&self.users)
            .map(|(radio, user)| {
                if user.has_work(slot) {
                    rates.bits_per_second(radio.snr(slot))
                } else {
                    0.0
                }
            });
        let Some((index, rate)) = self.averages.choose(slot, wanted) else {
            return;
        };
        let seconds = self.config.slot.as_secs_f64();
        let user = &mut self.users[index];
        user.served_bits += rate * seconds;
        let Some(attempt) = user.begin_block((rate * seconds / 8.0) as u64, slot) else {
            return;
        };
        let errors = self.errors.substream(index as u64);
        let damaged = self
            .config
            .block_error
            .happens(errors.draw(user.next_attempt()));
        user.on_air_is_damaged = damaged;
        self.on_air = Some(index as u32);
        let mut told = FrameReporter {
            observer,
            flow: user.flow(),
            attempt,
        };
        let ends = now + self.config.slot;
        told.frame(ACCESS_POINT, FrameKind::Data, (now, ends), damaged);
    }

    /// A slot has ended: its block has arrived, or is to be retransmitted.
    fn end_block(&mut self, index: u32) {
        // It began one slot ago.
        let due = (self.slot - 1).saturating_add(u64::from(self.config.arq_delay.get()));
        let limit = self.config.retry_limit;
        let user = &mut self.users[index as usize];
        let retried = user.end_block(due, |attempts| limit.is_reached(attempts));
        let ends = (ACCESS_POINT, index + 1);
        if let Some((packet, attempts)) = retried {
            self.outcomes.retried(packet, ends, attempts);
        }
        while let Some(done) = user.take_done() {
            let (packet, attempts) = (done.packet, done.attempts);
            if done.is_whole {
                self.outcomes.delivered(packet, ends, attempts);
            } else {
                self.outcomes.discarded(packet, ends, attempts, false);
            }
        }
    }
}

impl<P: Copy> Medium<P> for Cell<P> {
    fn push(
        &mut self,
        now: Instant,
        (_, to): (u32, u32),
        offer: Offer,
        packet: P,
        _observer: &mut impl ChannelObserver,
    ) -> bool {
        let Some(user) = self.users.get_mut(place_of(to)) else {
            return false;
        };
        if !user.push(offer, packet) {
            return false;
        }
        if self.wakeup == Instant::FAR_FUTURE {
            // The next slot that begins at or after now.
            let slot = now.as_nanos().div_ceil(self.config.slot.as_nanos());
            self.slot = slot.max(self.slot);
            self.wakeup = self.start_of(self.slot);
        }
        true
    }

    fn next_wakeup(&self) -> Instant {
        self.wakeup
    }

    /// Ends a slot and begins the next.
    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        if now < self.wakeup {
            return;
        }
        if let Some(served) = self.on_air.take() {
            self.end_block(served);
        }
        if self.users.iter().all(User::is_idle) {
            self.wakeup = Instant::FAR_FUTURE;
            return;
        }
        self.serve(now, observer);
        self.slot += 1;
        self.wakeup = self.start_of(self.slot);
    }

    fn poll(&mut self) -> Option<Outcome<P>> {
        self.outcomes.take()
    }

    fn queued_packets(&self, _station: u32, mobile: u32) -> usize {
        self.users.get(place_of(mobile)).map_or(0, User::waiting)
    }

    fn snr_db(&self, station: u32, now: Instant) -> Option<f64> {
        let radio = self.config.radios.get(place_of(station))?;
        Some(radio.snr_db(now, now.as_nanos() / self.config.slot.as_nanos()))
    }
}

/// The index of a user, who are numbered from 1, in lists of users.
const fn place_of(user: u32) -> usize {
    (user as usize).wrapping_sub(1)
}

#[cfg(test)]
mod tests;

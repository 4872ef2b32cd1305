//! The radio access network of LTE and NR: a base station that shares the resource blocks of each
//! slot among its users, in both directions.
//!
//! ```text
//!   network ─▶ RLC's queue ─▶ RLC ─▶ HARQ ═══ transport blocks ═══▶ HARQ ─▶ RLC ─▶ PDCP ─▶ network
//!              discipline     numbers  8 or 16 processes                    status   order
//!                                ▲        ▲                                   │
//!              scheduler ────────┼────────┘   CQI, outer loop                 │
//!                                └──────────── STATUS PDU, in blocks of the other direction
//! ```
//!
//! A slot is handled at its start: blocks that are decoded by then, timers, then the blocks of the
//! slot. The uplink's blocks were granted by the reports that had reached the base station
//! [`processing`](frame_structure::FrameStructure::processing) slots and a slot before:
//! `uplink_access`.
//!
//! Not modelled: control channels and their errors, but for negative acknowledgments taken for
//! positive ones; measurement gaps; interference of other cells, which is part of the noise;
//! bearers of several priorities.

mod adaptation;
mod allocation;
mod bearer;
mod channel;
pub mod config;
mod cqi;
pub mod drx;
pub mod frame_structure;
pub mod grid;
mod harq;
mod pdcp;
mod rlc;
mod serve;
pub mod session;
#[cfg(test)]
mod tests;
pub mod transport_block;
mod uplink_access;
mod urgent;
mod user;

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::outcomes::Outcomes;
use crate::frame::{ACCESS_POINT, ChannelObserver, Offer, Outcome};
use crate::mac::Medium;
use crate::queue::EcnField;
use crate::random::Stream;
use allocation::{Allocation, Candidate};
use bearer::PacketFate;
pub use config::RanConfig;
use config::RanError;
use cqi::CqiTable;
use frame_structure::SlotDirection;
use user::User;

/// A block on the air, decoded at the start of slot `decoded`.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    decoded: u64,
    user: usize,
    direction: SlotDirection,
    process: usize,
}

/// A direction of the carrier.
#[derive(Clone, Debug)]
struct Carrier {
    config: config::CarrierConfig,
    cqi: CqiTable,
    /// Efficiency of each scheme.
    nominal: Vec<f64>,
    allocation: Allocation,
    /// Groups of resource blocks that are free in the slot.
    free: Vec<bool>,
    candidates: Vec<Candidate>,
}

impl Carrier {
    fn new(config: &RanConfig, carrier: config::CarrierConfig) -> Self {
        Self {
            config: carrier,
            cqi: CqiTable::new(carrier.format.table, config.gap_db),
            nominal: adaptation::nominal(&carrier.format, carrier.grid.blocks()),
            allocation: Allocation::new(config.scheduler, config.radios.len()),
            free: vec![true; carrier.grid.groups() as usize],
            candidates: Vec::new(),
        }
    }
}

/// A cell of LTE or NR that carries packets of type `P`.
#[derive(Clone, Debug)]
pub struct Ran<P> {
    config: RanConfig,
    down: Carrier,
    up: Carrier,
    users: Vec<User<P>>,
    /// Blocks on the air, in the order in which they are decoded.
    arrivals: VecDeque<Arrival>,
    /// Handovers that have begun.
    handovers: u64,
    /// Number of the next slot.
    slot: u64,
    /// Start of the next slot; [`Instant::FAR_FUTURE`] when there is nothing to do.
    wakeup: Instant,
    outcomes: Outcomes<P>,
}

impl<P: Copy + EcnField> Ran<P> {
    /// A cell with empty queues; damage is drawn from `stream`.
    ///
    /// # Errors
    /// An invalid configuration; see [`RanError`].
    pub fn new(config: &RanConfig, stream: Stream) -> Result<Self, RanError> {
        config.check()?;
        let mut config = config.clone();
        config.saturated = config.saturated.min(config.radios.len() as u32);
        let users = 0..config.radios.len();
        let users: Vec<_> = users.map(|user| User::new(&config, user, stream)).collect();
        let wakeup = if config.saturated > 0 {
            Instant::ZERO
        } else {
            Instant::FAR_FUTURE
        };
        Ok(Self {
            down: Carrier::new(&config, config.down),
            up: Carrier::new(&config, config.up),
            users,
            arrivals: VecDeque::new(),
            handovers: 0,
            slot: 0,
            wakeup,
            outcomes: Outcomes::new(config.report_retries),
            config,
        })
    }

    /// Size of the new blocks to user `to`, from 1, in bits.
    #[must_use]
    pub fn served_bits(&self, to: u32) -> u64 {
        let user = self.users.get(place_of(to));
        user.map_or(0, |user| user.down.served_bits)
    }

    /// Decoded and failed first transmissions to user `to`, from 1.
    #[must_use]
    pub fn first_transmissions(&self, to: u32) -> (u64, u64) {
        let user = self.users.get(place_of(to));
        user.map_or((0, 0), |user| {
            (user.down.first_decoded, user.down.first_failed)
        })
    }

    /// Handovers and failures of the radio link. A cell at rest handles a handover when it wakes,
    /// if the gap is not over by then.
    fn interrupt(&mut self, slot: u64) {
        let frame = &self.config.frame;
        let begun = self.config.handover.map_or((0, 0), |handover| {
            let every = frame.slots(handover.every).max(1);
            let count = slot / every;
            (count, count * every + frame.slots(handover.gap))
        });
        let is_new = std::mem::replace(&mut self.handovers, begun.0) < begun.0;
        let is_handover = is_new && slot < begun.1;
        for (index, user) in self.users.iter_mut().enumerate() {
            let until = if is_handover {
                begun.1
            } else if user.has_failed {
                slot + frame.slots(self.config.reestablishment)
            } else {
                continue;
            };
            user.interrupt(until);
            self.arrivals.retain(|arrival| arrival.user != index);
        }
    }

    /// Reports the fates of packets.
    fn collect(&mut self) {
        for (user, number) in self.users.iter_mut().zip(1..) {
            let ways = [(ACCESS_POINT, number), (number, ACCESS_POINT)];
            for (side, ends) in [&mut user.down, &mut user.up].into_iter().zip(ways) {
                while let Some(fate) = side.bearer.take_fate() {
                    match fate {
                        PacketFate::Delivered(packet, attempts) => {
                            self.outcomes.delivered(packet, ends, attempts);
                        }
                        PacketFate::Lost(packet, attempts) => {
                            self.outcomes.discarded(packet, ends, attempts, false);
                        }
                        PacketFate::Dropped(packet) => self.outcomes.dropped(packet),
                    }
                }
            }
        }
    }
}

impl<P: Copy + EcnField> Medium<P> for Ran<P> {
    fn push(
        &mut self,
        now: Instant,
        (from, to): (u32, u32),
        offer: Offer,
        packet: P,
        _observer: &mut impl ChannelObserver,
    ) -> bool {
        let (user, direction) = if from == ACCESS_POINT {
            (to, SlotDirection::Down)
        } else {
            (from, SlotDirection::Up)
        };
        let Some(user) = self.users.get_mut(place_of(user)) else {
            return false;
        };
        let admitted = user.side(direction).bearer.push(now, offer, packet);
        if self.wakeup == Instant::FAR_FUTURE {
            self.slot = self.config.frame.slot_from(now).max(self.slot);
            self.wakeup = self.config.frame.start_of(self.slot);
        }
        admitted
    }

    fn next_wakeup(&self) -> Instant {
        self.wakeup
    }

    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        if now < self.wakeup {
            return;
        }
        let slot = self.slot;
        self.interrupt(slot);
        while let Some(arrival) = self.arrivals.front().copied()
            && arrival.decoded <= slot
        {
            self.arrivals.pop_front();
            self.decode(now, arrival);
        }
        for user in &mut self.users {
            user.on_time(now);
        }
        if self.config.frame.goes_down(slot) {
            self.serve(now, SlotDirection::Down, observer);
        }
        for user in &mut self.users {
            if user.saturated.is_none() && user.connected_from <= slot {
                let backlog = user.backlog(SlotDirection::Up, now);
                user.access.on_slot(slot, backlog, &self.config.frame);
            }
        }
        if self.config.frame.goes_up(slot) {
            self.serve(now, SlotDirection::Up, observer);
        }
        self.collect();
        self.slot += 1;
        self.wakeup = if self.arrivals.is_empty() && self.users.iter().all(User::is_idle) {
            Instant::FAR_FUTURE
        } else {
            self.config.frame.start_of(self.slot)
        };
    }

    fn poll(&mut self) -> Option<Outcome<P>> {
        self.outcomes.take()
    }

    fn queued_packets(&self, station: u32, mobile: u32) -> usize {
        if station == ACCESS_POINT {
            let user = self.users.get(place_of(mobile));
            user.map_or(0, |user| user.down.bearer.queued())
        } else {
            let user = self.users.get(place_of(station));
            user.map_or(0, |user| user.up.bearer.queued())
        }
    }

    fn snr_db(&self, station: u32, now: Instant) -> Option<f64> {
        let radio = self.config.radios.get(place_of(station))?.first()?;
        Some(radio.snr_db(now, now.as_nanos() / self.config.frame.slot.as_nanos()))
    }
}

/// The index of a user, who are numbered from 1, in lists of users.
const fn place_of(user: u32) -> usize {
    (user as usize).wrapping_sub(1)
}

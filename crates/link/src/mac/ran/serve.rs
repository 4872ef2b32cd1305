//! The blocks of a slot: repeated ones first, then new ones on the resource blocks that are left.

use airtcp_units::Instant;

use super::adaptation::{Decoding, TransportBlock, largest_block};
use super::allocation::{Candidate, SharedPower};
use super::channel::{SubbandBlocks, effective_snr};
use super::cqi::required_snr;
use super::frame_structure::SlotDirection;
use super::harq::{Block, Content};
use super::urgent::Turn;
use super::{Arrival, Ran};
use crate::frame::{ACCESS_POINT, ChannelObserver, FrameKind};
use crate::mac::frame_reporter::FrameReporter;
use crate::queue::EcnField;

impl<P: Copy + EcnField> Ran<P> {
    /// The blocks of this slot in a direction.
    pub(super) fn serve(
        &mut self,
        now: Instant,
        direction: SlotDirection,
        observer: &mut impl ChannelObserver,
    ) {
        match direction {
            SlotDirection::Down => self.down.free.fill(true),
            SlotDirection::Up => self.up.free.fill(true),
        }
        let order = match direction {
            SlotDirection::Down => self.config.order,
            SlotDirection::Up => None,
        };
        match order {
            Some(order) => self.repeat_by_timers(now, (order, Turn::First), observer),
            None => self.repeat_by_user(now, direction, observer),
        }
        let mut candidates = self.candidates(now, direction);
        let carrier = match direction {
            SlotDirection::Down => &mut self.down,
            SlotDirection::Up => &mut self.up,
        };
        let resources = (carrier.config.grid, carrier.config.format.elements());
        carrier
            .allocation
            .allocate(self.slot, resources, &mut carrier.free, &mut candidates);
        for candidate in candidates.iter().filter(|candidate| candidate.blocks > 0) {
            self.send(now, candidate, direction, observer);
        }
        if let Some(order) = order {
            self.repeat_by_timers(now, (order, Turn::Last), observer);
        }
        // The list is kept for its room.
        let carrier = match direction {
            SlotDirection::Down => &mut self.down,
            SlotDirection::Up => &mut self.up,
        };
        carrier.candidates = candidates;
    }

    /// Repeats failed blocks, user by user.
    fn repeat_by_user(
        &mut self,
        now: Instant,
        direction: SlotDirection,
        observer: &mut impl ChannelObserver,
    ) {
        for user in 0..self.users.len() {
            if self.users[user].connected_from > self.slot {
                continue;
            }
            while let Some(process) = self.users[user].side(direction).harq.to_repeat(self.slot) {
                if !self.repeat(now, (user, process), direction, observer) {
                    break;
                }
            }
        }
    }

    /// Users who want resource blocks and can use them.
    fn candidates(&mut self, now: Instant, direction: SlotDirection) -> Vec<Candidate> {
        let slot = self.slot;
        let carrier = match direction {
            SlotDirection::Down => &mut self.down,
            SlotDirection::Up => &mut self.up,
        };
        let mut candidates = std::mem::take(&mut carrier.candidates);
        candidates.clear();
        for (index, user) in self.users.iter_mut().enumerate() {
            if user.connected_from > slot {
                continue;
            }
            let wanted = match (direction, &mut user.saturated) {
                (SlotDirection::Down, Some(saturated)) => saturated.wanted(now),
                (SlotDirection::Down, None) if user.drx.is_some_and(|drx| !drx.listens(slot)) => {
                    0.0
                }
                (SlotDirection::Down, None) => 8.0 * user.backlog(direction, now) as f64,
                (SlotDirection::Up, _) => 8.0 * user.access.known(slot) as f64,
            };
            if wanted == 0.0 || user.side(direction).harq.free(slot).is_none() {
                continue;
            }
            let urgent = match (direction, self.config.order) {
                (SlotDirection::Down, Some(order)) => user.down.bearer.urgent_backlog(order, now),
                _ => 0,
            };
            let channel = &mut user.side(direction).channel;
            let report = channel.report(slot, direction, &carrier.cqi);
            let mut candidate = Candidate::new(index, wanted, report.rates);
            candidate.urgent = 8.0 * urgent as f64;
            if direction == SlotDirection::Up {
                let subbands = carrier.config.grid.subbands();
                let parts = report.snr.iter().take(subbands).map(|snr| (*snr, 1));
                let all = f64::from(carrier.config.grid.blocks());
                candidate.power = Some(SharedPower {
                    snr: effective_snr(parts) * all / carrier.cqi.gap(),
                    most: carrier.cqi.most(),
                });
            }
            candidates.push(candidate);
        }
        candidates
    }

    /// A new block for a user.
    fn send(
        &mut self,
        now: Instant,
        candidate: &Candidate,
        direction: SlotDirection,
        observer: &mut impl ChannelObserver,
    ) {
        let slot = self.slot;
        let carrier = match direction {
            SlotDirection::Down => &mut self.down,
            SlotDirection::Up => &mut self.up,
        };
        let user = &mut self.users[candidate.user];
        let gap = carrier.cqi.gap();
        let side = user.side(direction);
        let Some(process) = side.harq.free(slot) else {
            return;
        };
        let report = side.channel.report(slot, direction, &carrier.cqi);
        let used = report.snr.iter().zip(&candidate.shares);
        let estimated = effective_snr(used.filter(|(_, n)| **n > 0).map(|(snr, n)| (*snr, *n)))
            * side.outer.factor()
            * power_share(direction, carrier.config.grid.blocks(), candidate.blocks);
        let (format, blocks) = (&carrier.config.format, candidate.blocks);
        let chosen = largest_block(format, &carrier.nominal, blocks, (estimated, gap));
        // A weaker signal than the lowest scheme's meets it all the same.
        let is_below_all = chosen.is_none();
        let chosen = chosen.unwrap_or_else(|| TransportBlock::new(format, 0, blocks));
        let draw = side.draws.uniform(side.harq.sent);
        side.harq.sent += 1;
        side.served_bits += u64::from(chosen.bits);
        let required = required_snr(chosen.efficiency, gap);
        let decoding = Decoding::new((required, gap), chosen.code_rate, draw);
        carrier.allocation.on_served(candidate.user, chosen.bits);
        let bytes = u64::from(chosen.bits / 8);
        let content = if user.saturated.is_some() {
            Content::default()
        } else {
            user.fill(direction, now, bytes)
        };
        if direction == SlotDirection::Up {
            user.access.on_granted(slot, bytes, content.buffer_status);
        }
        if let Some(drx) = &mut user.drx {
            drx.on_grant(slot);
        }
        let place = &mut user.side(direction).harq.processes[process];
        place.transmissions = 0;
        place.shares = candidate.shares;
        place.block = Some(Block {
            first_group: candidate.first_group,
            blocks: candidate.blocks,
            decoding,
            is_below_all,
            content,
            filled: slot,
        });
        self.transmit(now, (candidate.user, process), direction, observer);
    }

    /// A block is retransmitted on as many resource blocks, in the subbands that are now the user's
    /// best (adaptive retransmission, TS 36.321 §5.4.2.2, TS 38.321 §5.4.2), among equal ones
    /// from the group on that it had first. `false` if too few are free.
    pub(super) fn repeat(
        &mut self,
        now: Instant,
        (user, process): (usize, usize),
        direction: SlotDirection,
        observer: &mut impl ChannelObserver,
    ) -> bool {
        let carrier = match direction {
            SlotDirection::Down => &mut self.down,
            SlotDirection::Up => &mut self.up,
        };
        let grid = carrier.config.grid;
        let side = self.users[user].side(direction);
        let report = side.channel.report(self.slot, direction, &carrier.cqi);
        let place = &mut side.harq.processes[process];
        let Some(block) = &place.block else {
            return false;
        };
        let groups = grid.groups();
        let mut order: Vec<u32> = (0..groups)
            .map(|n| (block.first_group + n) % groups)
            .collect();
        let snr = |group: &u32| report.snr[grid.subband_of(*group)];
        order.sort_by(|a, b| snr(b).total_cmp(&snr(a)));
        let order = order.into_iter();
        let mut shares = SubbandBlocks::default();
        let (mut taken, mut chosen) = (0, Vec::new());
        for group in order.filter(|group| carrier.free[*group as usize]) {
            if taken >= block.blocks {
                break;
            }
            let more = grid.blocks_in(group).min(block.blocks - taken);
            shares[grid.subband_of(group)] += more;
            taken += more;
            chosen.push(group);
        }
        if taken < block.blocks {
            return false;
        }
        for group in chosen {
            carrier.free[group as usize] = false;
        }
        place.shares = shares;
        self.transmit(now, (user, process), direction, observer);
        true
    }

    /// A transmission of a block begins.
    fn transmit(
        &mut self,
        now: Instant,
        (index, process): (usize, usize),
        direction: SlotDirection,
        observer: &mut impl ChannelObserver,
    ) {
        let slot = self.slot;
        let frame = &self.config.frame;
        let grid = match direction {
            SlotDirection::Down => self.down.config.grid,
            SlotDirection::Up => self.up.config.grid,
        };
        let in_outage = self
            .config
            .outage
            .is_some_and(|outage| outage.touches(now, now + frame.slot));
        let side = self.users[index].side(direction);
        let flow = side.bearer.oldest().map_or(0, |(_, flow)| flow);
        let place = &mut side.harq.processes[process];
        let Some(block) = &place.block else {
            return;
        };
        let power = power_share(direction, grid.blocks(), block.blocks);
        place.snr = if in_outage {
            0.0
        } else {
            side.channel.snr(slot, &place.shares) * power
        };
        place.transmissions += 1;
        place.is_repeated = false;
        place.sent = slot;
        place.answered = frame.reaction(slot, direction);
        let mut decoding = block.decoding;
        let damaged = !decoding.receive(place.snr);
        let mut reporter = FrameReporter {
            observer,
            flow,
            attempt: place.transmissions,
        };
        let station = match direction {
            SlotDirection::Down => ACCESS_POINT,
            SlotDirection::Up => index as u32 + 1,
        };
        reporter.frame(station, FrameKind::Data, (now, now + frame.slot), damaged);
        self.arrivals.push_back(Arrival {
            decoded: frame.decoded(slot),
            user: index,
            direction,
            process,
        });
    }

    /// A transmission of a block is over: it is decoded, or repeated, or given up.
    pub(super) fn decode(&mut self, now: Instant, arrival: Arrival) {
        let Arrival {
            user: index,
            direction,
            process,
            ..
        } = arrival;
        let harq = self.config.harq;
        let user = &mut self.users[index];
        let side = user.side(direction);
        let place = &mut side.harq.processes[process];
        let Some(block) = &mut place.block else {
            return;
        };
        let decoded = block.decoding.receive(place.snr);
        let (transmissions, usable, filled) = (place.transmissions, place.answered, block.filled);
        if transmissions == 1 {
            side.outer.on_first(decoded, block.is_below_all);
            side.first_decoded += u64::from(decoded);
            side.first_failed += u64::from(!decoded);
        }
        if decoded {
            let content = place.block.take().map(|block| block.content);
            let content = content.unwrap_or_default();
            if direction == SlotDirection::Up {
                user.access.report(filled, usable, content.buffer_status);
            }
            user.receive(direction, now, &content, transmissions);
            return;
        }
        let draws = side.draws.substream(1);
        let is_misread = harq.nack_to_ack.happens(draws.draw(side.harq.negative));
        side.harq.negative += 1;
        let most = self.config.order.map(|order| order.retransmissions);
        let is_last = harq.transmissions.is_reached(transmissions)
            || direction == SlotDirection::Down && most.is_some_and(|most| transmissions > most);
        if !is_misread && !is_last {
            place.is_repeated = true;
            let oldest = side.bearer.oldest();
            let number = index as u32 + 1;
            let ends = match direction {
                SlotDirection::Down => (ACCESS_POINT, number),
                SlotDirection::Up => (number, ACCESS_POINT),
            };
            if let Some((packet, _)) = oldest {
                self.outcomes.retried(packet, ends, transmissions);
            }
            return;
        }
        if let Some(block) = place.block.take() {
            side.bearer.lose_block(&block.content.pdus, transmissions);
        }
    }
}

/// Power of each resource block over that if all were used: a user's is shared by those it has.
fn power_share(direction: SlotDirection, all: u32, used: u32) -> f64 {
    match direction {
        SlotDirection::Down => 1.0,
        SlotDirection::Up => f64::from(all) / f64::from(used.max(1)),
    }
}

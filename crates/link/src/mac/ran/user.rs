//! A user: a bearer, a channel, link adaptation and HARQ in each direction.

use airtcp_units::Instant;

use super::adaptation::OuterLoop;
use super::bearer::Bearer;
use super::channel::Channel;
use super::config::{RanConfig, RlcMode};
use super::drx::Drx;
use super::frame_structure::SlotDirection;
use super::harq::{Content, Harq};
use super::session::Sessions;
use super::uplink_access::UplinkAccess;
use crate::fading::ratio;
use crate::queue::{Discipline, EcnField};
use crate::random::Stream;

/// A direction of a user.
#[derive(Clone, Debug)]
pub(super) struct Side<P> {
    pub bearer: Bearer<P>,
    pub channel: Channel,
    pub outer: OuterLoop,
    pub harq: Harq,
    /// Draws of its blocks.
    pub draws: Stream,
    /// Bits of new blocks.
    pub served_bits: u64,
    /// First transmissions that were decoded or not.
    pub first_decoded: u64,
    pub first_failed: u64,
}

/// When a user without TCP is backlogged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Saturated {
    Always,
    InSessions(Sessions),
}

impl Saturated {
    /// Bits that it wants.
    pub(super) fn wanted(&mut self, now: Instant) -> f64 {
        let is_on = match self {
            Self::Always => true,
            Self::InSessions(sessions) => sessions.is_on(now),
        };
        if is_on { f64::INFINITY } else { 0.0 }
    }
}

/// A user.
#[derive(Clone, Debug)]
pub(super) struct User<P> {
    /// How it is backlogged, with data that belongs to no packet.
    pub saturated: Option<Saturated>,
    pub down: Side<P>,
    pub up: Side<P>,
    pub access: UplinkAccess,
    pub drx: Option<Drx>,
    /// The slot from which on it is connected: after a handover, or a failure of the radio link.
    pub connected_from: u64,
    /// Whether a PDU was retransmitted by RLC as often as it may be.
    pub has_failed: bool,
    /// Whether packets in transit survive a handover.
    is_lossless: bool,
}

impl<P: Copy + EcnField> User<P> {
    /// User number `index`.
    pub(super) fn new(config: &RanConfig, index: usize, stream: Stream) -> Self {
        let draws = stream.substream(index as u64);
        let side = |power: f64, (queue, order), draws: Stream| Side {
            bearer: Bearer::new(
                config.generation,
                (config.rlc, config.pdcp),
                queue,
                order,
                draws.substream(1),
            ),
            channel: Channel::new(&config.radios[index], config.frame.slot, power, config.cqi),
            outer: OuterLoop::new(config.outer_loop),
            harq: Harq::new(config.harq.processes.get()),
            draws: draws.substream(0),
            served_bits: 0,
            first_decoded: 0,
            first_failed: 0,
        };
        let up_power = ratio(config.uplink.power_offset_db);
        Self {
            saturated: (index >= config.radios.len() - config.saturated as usize).then(|| {
                config.sessions.map_or(Saturated::Always, |sessions| {
                    Saturated::InSessions(Sessions::new(sessions, draws.substream(2)))
                })
            }),
            // Layers share the base station's power.
            down: side(
                1.0 / f64::from(config.down.format.layers()),
                ((config.discipline, config.queue), config.order),
                draws.substream(0),
            ),
            up: side(
                up_power,
                ((Discipline::DropTail, config.uplink.queue), None),
                draws.substream(1),
            ),
            access: UplinkAccess::new(
                config.uplink.request_period,
                config.uplink.request_grant,
                &config.frame,
                index,
            ),
            drx: config.drx.map(|drx| Drx::new(drx, index)),
            connected_from: 0,
            has_failed: false,
            is_lossless: config.rlc.mode == RlcMode::Acknowledged
                && config.handover.is_none_or(|handover| handover.is_lossless),
        }
    }

    pub(super) const fn side(&mut self, direction: SlotDirection) -> &mut Side<P> {
        match direction {
            SlotDirection::Down => &mut self.down,
            SlotDirection::Up => &mut self.up,
        }
    }

    /// Whether nothing is to be sent, in transit, or waited for.
    pub(super) fn is_idle(&self) -> bool {
        let rests = |side: &Side<P>| side.bearer.is_idle() && side.harq.is_idle();
        self.saturated.is_none() && rests(&self.down) && rests(&self.up)
    }

    /// Bytes to be sent in a direction: the status of the other direction's receiver too.
    pub(super) fn backlog(&self, direction: SlotDirection, now: Instant) -> u64 {
        let (ours, other) = match direction {
            SlotDirection::Down => (&self.down, &self.up),
            SlotDirection::Up => (&self.up, &self.down),
        };
        ours.bearer.backlog() + other.bearer.receiver.status_bytes(now)
    }

    /// The content of a new block of `bytes`: status first, then data.
    pub(super) fn fill(&mut self, direction: SlotDirection, now: Instant, bytes: u64) -> Content {
        let (ours, other) = match direction {
            SlotDirection::Down => (&mut self.down, &mut self.up),
            SlotDirection::Up => (&mut self.up, &mut self.down),
        };
        let mut content = Content::default();
        let mut left = bytes;
        if let Some((status, bytes)) = other.bearer.receiver.status(now, left) {
            content.status = Some(status);
            left -= bytes;
        }
        ours.bearer.fill(now, left, &mut content.pdus);
        if direction == SlotDirection::Up {
            content.buffer_status = self.backlog(direction, now);
        }
        content
    }

    /// The content of a decoded block, after `transmissions` of it.
    pub(super) fn receive(
        &mut self,
        direction: SlotDirection,
        now: Instant,
        content: &Content,
        transmissions: u32,
    ) {
        let (ours, other) = match direction {
            SlotDirection::Down => (&mut self.down, &mut self.up),
            SlotDirection::Up => (&mut self.up, &mut self.down),
        };
        if let Some(status) = &content.status {
            self.has_failed |= other.bearer.on_status(status);
        }
        ours.bearer.receive(now, &content.pdus, transmissions);
    }

    /// Expiry of timers.
    pub(super) fn on_time(&mut self, now: Instant) {
        let (down, up) = (self.down.bearer.on_time(now), self.up.bearer.on_time(now));
        self.has_failed |= down || up;
    }

    /// The connection is interrupted until slot `until`: blocks in transit are lost, and RLC is
    /// re-established.
    pub(super) fn interrupt(&mut self, until: u64) {
        self.connected_from = until;
        self.has_failed = false;
        self.access.reset();
        for side in [&mut self.down, &mut self.up] {
            for content in side.harq.flush() {
                side.bearer.lose_block(&content.pdus, 1);
            }
            side.bearer.re_establish(self.is_lossless);
        }
    }
}

//! Repair packets below IP: after each block of packets the link sends some that are computed from
//! it, and the far end rebuilds as many lost packets of the block as repair packets arrive (an
//! ideal erasure code, as Reed-Solomon's are: RFC 5510; over whole packets RFC 8681). The idea of
//! LT-TCP (V. Subramanian, S. Kalyanaraman & K. K. Ramakrishnan, "An end-to-end transport protocol
//! for extreme wireless network environments", MILCOM 2006) and of Tetrys (RFC 9407), which codes
//! over a window that moves.
//!
//! The far end keeps the order: packets after a lost one wait until that is rebuilt or given up. A
//! block that gets no more packets ends after a pause. Repair packets take the link's time.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use airtcp_units::{Duration, Instant};

use crate::frame::Transmission;

/// Bytes by which a repair packet is longer than the longest packet of its block; assumed.
const HEADER_BYTES: u32 = 8;
/// First number of repair packets, far above a flow's.
const FIRST_INDEX: u64 = 1 << 48;
/// Chance that a block cannot be rebuilt, below which more repair packets are not sent.
const RESIDUAL: f64 = 0.01;
/// Weight of the last block in the average loss rate.
const GAIN: f64 = 1.0 / 8.0;

/// The parameters of a link's repair packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FecConfig {
    /// Packets of a block.
    pub block: NonZeroU32,
    /// Repair packets after each block; if adaptive, at most.
    pub repair: u32,
    /// Whether their number follows the loss rate of the blocks before, which the far end reports.
    pub adaptive: bool,
    /// Pause after which an incomplete block ends.
    pub pause: Duration,
}

/// A packet of the block that has left; it arrives at `arrival`, unless it is lost.
#[derive(Clone, Debug)]
struct Sent<P> {
    packet: P,
    arrival: Option<Instant>,
}

/// The block that is being sent, and the loss rate of those before.
#[derive(Clone, Debug)]
pub(super) struct Fec<P> {
    config: FecConfig,
    /// Packets of the block from the first lost one on: they wait.
    waiting: Vec<Sent<P>>,
    /// Packets of the block, and the bytes of the longest.
    packets: u32,
    longest: u32,
    lost: u32,
    /// The flow of the last packet, in which the channel is then.
    flow: u32,
    /// Repair packets that follow the block, decided at its beginning.
    repair: u32,
    /// Departure of the last packet.
    last_departure: Instant,
    repairs_sent: u64,
    loss_rate: Option<f64>,
    /// Packets that cannot be rebuilt.
    pub discarded: VecDeque<P>,
}

impl<P> Fec<P> {
    pub(super) fn new(config: FecConfig) -> Self {
        Self {
            config,
            waiting: Vec::new(),
            packets: 0,
            longest: 0,
            lost: 0,
            flow: 0,
            repair: 0,
            last_departure: Instant::ZERO,
            repairs_sent: 0,
            loss_rate: None,
            discarded: VecDeque::new(),
        }
    }

    /// Packets that wait for a lost one, and those lost ones.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes a packet that has left. Returns it, with its arrival, if it does not wait.
    pub(super) fn take(
        &mut self,
        transmission: &Transmission,
        packet: P,
        departure: Instant,
        arrival: Option<Instant>,
    ) -> Option<(Instant, P)> {
        if self.packets == 0 {
            self.repair = self.repairs_of(self.config.block.get());
        }
        self.packets += 1;
        self.longest = self.longest.max(transmission.bytes);
        self.flow = transmission.flow;
        self.last_departure = departure;
        self.lost += u32::from(arrival.is_none());
        let sent = Sent { packet, arrival };
        match sent.arrival {
            Some(arrival) if self.waiting.is_empty() => Some((arrival, sent.packet)),
            None if self.repair == 0 => {
                self.discarded.push_back(sent.packet);
                None
            }
            _ => {
                self.waiting.push(sent);
                None
            }
        }
    }

    /// Whether the block is complete.
    pub(super) const fn is_complete(&self) -> bool {
        self.packets >= self.config.block.get()
    }

    /// When an incomplete block ends, if it has packets; nobody needs to be woken for it unless
    /// some wait.
    pub(super) fn ends(&self) -> Option<Instant> {
        (self.packets > 0).then(|| self.last_departure + self.config.pause)
    }

    /// Number of repair packets that follow the block as it is: of an incomplete one, the same
    /// share.
    pub(super) const fn repairs(&self) -> u32 {
        (self.repair * self.packets).div_ceil(self.config.block.get())
    }

    /// The next repair packet.
    pub(super) const fn next_repair(&mut self) -> Transmission {
        let index = FIRST_INDEX + self.repairs_sent;
        self.repairs_sent += 1;
        Transmission {
            bytes: self.longest + HEADER_BYTES,
            flow: self.flow,
            index,
        }
    }

    /// Ends the block after `sent` repair packets; these have arrived, and the last one would have
    /// by `end`. Returns the packets that have waited, with their arrivals;
    /// the lost ones, if they cannot be rebuilt, are among the discarded.
    pub(super) fn end_block(
        &mut self,
        sent: u32,
        arrived: &[Instant],
        end: Instant,
    ) -> Vec<(Instant, P)> {
        let all = self.packets + sent;
        let missing = self.lost + sent - u32::try_from(arrived.len()).unwrap_or(sent);
        let rate = f64::from(missing) / f64::from(all.max(1));
        self.loss_rate = Some(match self.loss_rate {
            None => rate,
            Some(mean) => mean + GAIN * (rate - mean),
        });
        // As many equations as unknowns.
        let rebuilt = match self.lost.checked_sub(1) {
            None => Some(Instant::ZERO),
            Some(last) => arrived.get(last as usize).copied(),
        };
        let over = rebuilt.unwrap_or(end);
        let mut released = Vec::new();
        for Sent { packet, arrival } in self.waiting.drain(..) {
            match (arrival, rebuilt) {
                (Some(arrival), _) => released.push((arrival.max(over), packet)),
                (None, Some(_)) => released.push((over, packet)),
                (None, None) => self.discarded.push_back(packet),
            }
        }
        (self.packets, self.longest, self.lost) = (0, 0, 0);
        released
    }

    /// Repair packets for a block of `packets`: as configured, or the least number with which the
    /// block can nearly always be rebuilt at the loss rate so far.
    fn repairs_of(&self, packets: u32) -> u32 {
        match self.loss_rate {
            Some(rate) if self.config.adaptive => (0..self.config.repair)
                .find(|repair| more_lost_than(*repair, packets + repair, rate) <= RESIDUAL)
                .unwrap_or(self.config.repair),
            _ => self.config.repair,
        }
    }
}

/// Probability that more than `most` of `count` packets are lost, each with probability `rate`.
fn more_lost_than(most: u32, count: u32, rate: f64) -> f64 {
    if rate >= 1.0 {
        return f64::from(u8::from(most < count));
    }
    let mut chance = libm::pow(1.0 - rate, f64::from(count));
    let mut at_most = chance;
    for lost in 0..most.min(count) {
        chance *= f64::from(count - lost) / f64::from(lost + 1) * rate / (1.0 - rate);
        at_most += chance;
    }
    (1.0 - at_most).max(0.0)
}

#[cfg(test)]
mod tests;

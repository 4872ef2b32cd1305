//! Common applications kept enhanced: a shaper, tins by code point, a queue for each flow with fair
//! shares of hosts, and Cobalt in each (T. Høiland-Jørgensen, D. Täht, J. Morton, "Piece of CAKE",
//! IEEE LANMAN 2018; Linux, `net/sched/sch_cake.c`).
//!
//! Left out: `ingress` mode, framing overheads and the kernel's limit in bytes of memory; the limit
//! is the queue's, as with the other disciplines.

mod ack_filter;
pub(crate) mod autorate;
mod cobalt;
mod flows;
#[cfg(test)]
mod tests;
mod tins;

use airtcp_units::{BitRate, Duration, Instant};

use super::{EcnField, QueueLimit};
use crate::frame::QueuedPacket;
use crate::random::Stream;
pub use ack_filter::AckFilter;
pub use autorate::AutorateConfig;
use cobalt::Verdict;
use flows::FlowQueues;
use tins::Tin;
pub use tins::Tins;

/// The parameters of CAKE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CakeConfig {
    /// The rate that it shapes to; `None`: the link's speed.
    pub rate: Option<BitRate>,
    /// The classes of traffic.
    pub tins: Tins,
    /// Code points of the flows' packets, assigned cyclically.
    pub code_points: CodePoints,
    /// Number of hosts that the flows belong to, cyclically; each gets the same share. `None`: each
    /// flow has a separate host.
    pub hosts: Option<u32>,
    /// Delay that is acceptable (Linux: 5 ms).
    pub target: Duration,
    /// A worst-case round trip (Linux, `rtt`: 100 ms).
    pub interval: Duration,
    /// How aggressively acknowledgments are dropped.
    pub ack_filter: AckFilter,
    /// Bytes of a largest packet.
    pub largest_packet: u32,
    /// Bounds within which the rate follows the delay of the link, starting at `rate`, or if that
    /// is `None` at the link's mean rate. `None`: the rate is constant.
    pub autorate: Option<AutorateConfig>,
}

impl Default for CakeConfig {
    fn default() -> Self {
        Self {
            rate: None,
            tins: Tins::default(),
            code_points: CodePoints::default(),
            hosts: None,
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ack_filter: AckFilter::Off,
            largest_packet: 1500,
            autorate: None,
        }
    }
}

/// The code points of flows, assigned cyclically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodePoints {
    numbers: [u8; Self::MAX],
    count: usize,
}

impl CodePoints {
    /// Maximum number of code points.
    pub const MAX: usize = 16;

    /// These code points, each from 0 to 63; `None` if there are too many.
    #[must_use]
    pub fn new(numbers: impl IntoIterator<Item = u8>) -> Option<Self> {
        let mut points = Self::default();
        for number in numbers {
            *points.numbers.get_mut(points.count)? = number;
            points.count += 1;
        }
        Some(points)
    }

    /// The code point of a flow's packets: best effort if the list is empty.
    fn of(&self, flow: u32) -> u8 {
        let turn = (flow as usize).checked_rem(self.count);
        turn.map_or(0, |turn| self.numbers[turn])
    }
}

/// A tin, and its progress.
#[derive(Clone, Debug)]
struct TinQueues<P> {
    config: Tin,
    flows: FlowQueues<P>,
    /// Time at which its share of the rate allows its next packet; bytes that it may send in its
    /// turn.
    next_packet: Instant,
    deficit: i64,
}

/// The queues.
#[derive(Clone, Debug)]
pub(crate) struct Cake<P> {
    config: CakeConfig,
    limit: QueueLimit,
    tins: Vec<TinQueues<P>>,
    current: usize,
    /// Time at which the shaper releases the next packet.
    next_packet: Instant,
    packets: usize,
    bytes: u64,
    draws: Stream,
    drawn: u64,
}

impl<P: EcnField> Cake<P> {
    pub(crate) fn new(config: CakeConfig, limit: QueueLimit, draws: Stream) -> Self {
        let CakeConfig {
            rate,
            target,
            interval,
            largest_packet,
            ..
        } = config;
        let tins = config.tins.at(rate, target, interval, largest_packet);
        let hash = draws.substream(0);
        Self {
            config,
            limit,
            tins: tins
                .map(|tin| TinQueues {
                    config: tin,
                    flows: FlowQueues::new(tin.flow_quantum, hash),
                    next_packet: Instant::ZERO,
                    deficit: 0,
                })
                .collect(),
            current: 0,
            next_packet: Instant::ZERO,
            packets: 0,
            bytes: 0,
            draws: draws.substream(1),
            drawn: 0,
        }
    }

    /// Shapes to another rate from now on; the last packet's charge is unchanged
    /// (`cake_reconfigure`).
    pub(crate) fn set_rate(&mut self, rate: BitRate) {
        let CakeConfig {
            target,
            interval,
            largest_packet,
            ..
        } = self.config;
        self.config.rate = Some(rate);
        let tins = self
            .config
            .tins
            .at(Some(rate), target, interval, largest_packet);
        for (queues, tin) in self.tins.iter_mut().zip(tins) {
            queues.config = tin;
            queues.flows.set_quantum(tin.flow_quantum);
        }
    }

    pub(crate) const fn packets(&self) -> usize {
        self.packets
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Time at which the shaper releases the next packet; in the past without one.
    pub(crate) const fn release(&self) -> Instant {
        self.next_packet
    }

    /// Adds a packet; if that exceeds the limit, the longest queue loses its head.
    pub(crate) fn push(
        &mut self,
        waiting: QueuedPacket<P>,
        mut discard: impl FnMut(QueuedPacket<P>),
    ) {
        let now = waiting.since;
        let flow = waiting.transmission.flow;
        let tin = self.config.tins.of(self.config.code_points.of(flow));
        let tin = &mut self.tins[tin];
        if tin.flows.bytes() == 0 {
            tin.next_packet = tin.next_packet.max(now);
        }
        if self.packets == 0 {
            self.next_packet = self.next_packet.max(now);
        }
        let host = self.config.hosts.map_or(flow, |hosts| flow % hosts.max(1));
        self.packets += 1;
        self.bytes += u64::from(waiting.transmission.bytes);
        let superfluous = tin.flows.push(waiting, host, self.config.ack_filter);
        if let Some(dropped) = superfluous {
            self.packets -= 1;
            self.bytes -= u64::from(dropped.transmission.bytes);
            discard(dropped);
        }
        while !self.limit.holds(self.packets, self.bytes) {
            let Some(dropped) = self.shorten(now) else {
                break;
            };
            discard(dropped);
        }
    }

    /// Drops the head of the longest queue of all tins.
    pub(crate) fn shorten(&mut self, now: Instant) -> Option<QueuedPacket<P>> {
        let longest = self
            .tins
            .iter_mut()
            .rev()
            .max_by_key(|tin| tin.flows.longest())?;
        let dropped = longest.flows.drop_longest(&longest.config.limits, now)?;
        self.packets -= 1;
        self.bytes -= u64::from(dropped.transmission.bytes);
        Some(dropped)
    }

    /// The packet that is served at `now`, if the shaper releases one; `discard` gets packets
    /// dropped on the way.
    pub(crate) fn dequeue(
        &mut self,
        now: Instant,
        mut discard: impl FnMut(QueuedPacket<P>),
    ) -> Option<QueuedPacket<P>> {
        if self.config.rate.is_some() && self.next_packet > now {
            return None;
        }
        // One decaying queue is checked, however many turn out to be empty.
        let mut is_first = true;
        while self.packets > 0 {
            self.choose_tin(now);
            let tin = &mut self.tins[self.current];
            let limits = tin.config.limits;
            let (draws, drawn) = (self.draws, &mut self.drawn);
            let mut draw = || {
                *drawn += 1;
                (draws.draw(*drawn) >> 32) as u32
            };
            let (packets, bytes) = (&mut self.packets, &mut self.bytes);
            let mut count = |taken: &QueuedPacket<P>| {
                *packets -= 1;
                *bytes -= u64::from(taken.transmission.bytes);
            };
            let served = tin
                .flows
                .dequeue(now, &limits, &mut is_first, &mut draw, |dropped| {
                    count(&dropped);
                    discard(dropped);
                });
            let Some(served) = served else {
                continue;
            };
            count(&served);
            self.charge(now, served.transmission.bytes);
            return Some(served);
        }
        None
    }

    /// With a rate the last tin that is within its share, or else the one that is next; without one
    /// tins take turns by weight (`cake_dequeue`).
    fn choose_tin(&mut self, now: Instant) {
        let count = self.tins.len();
        if self.config.rate.is_none() {
            loop {
                let tin = &mut self.tins[self.current];
                if tin.deficit >= 0 && tin.flows.is_active() {
                    return;
                }
                if tin.deficit <= 0 {
                    tin.deficit += tin.config.quantum;
                }
                self.current = (self.current + 1) % count;
            }
        }
        let mut best = Instant::FAR_FUTURE;
        for (place, tin) in self.tins.iter().enumerate() {
            if tin.flows.is_active() && (tin.next_packet <= now || tin.next_packet <= best) {
                best = tin.next_packet;
                self.current = place;
            }
        }
    }

    /// Charges a packet to its tin and to the shaper (`cake_advance_shaper`).
    fn charge(&mut self, now: Instant, bytes: u32) {
        let tin = &mut self.tins[self.current];
        tin.deficit -= i64::from(bytes);
        let (Some(rate), Some(of_tin)) = (self.config.rate, tin.config.rate) else {
            return;
        };
        let took = of_tin.transmission_time(u64::from(bytes));
        tin.next_packet = if tin.next_packet < now {
            tin.next_packet + took
        } else {
            tin.next_packet.max(now + took)
        };
        self.next_packet += rate.transmission_time(u64::from(bytes));
    }
}

/// Marks, drops or passes a packet by Cobalt's verdict; the last of a queue is not dropped.
fn is_dropped<P: EcnField>(verdict: Verdict, packet: &mut P, is_last: bool) -> bool {
    if verdict == Verdict::IsMarked {
        packet.mark();
    }
    verdict == Verdict::IsDropped && !is_last
}

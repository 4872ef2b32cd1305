//! Queues of a station, in one access category.
//!
//! ```text
//!   fifo         ─────────────────────────────────────▶ ready ─▶ air
//!   qdisc        ─▶ discipline ────────────────────────▶ ready ─▶ air
//!   round robin  ─▶ discipline for each station ─▶ in turn ───▶ air
//!   airtime      ─▶ discipline for each station ─▶ deficits, pending airtime ─▶ next ─▶ air
//! ```
//!
//! Ready packets are with the driver or the hardware: they are sent in the order in which they
//! became ready, except that an aggregate takes all packets for its destination at any position.
//!
//! By airtime the hardware has two aggregates, one on the air and one that is next, as ath9k gives
//! it (T. Høiland-Jørgensen et al., USENIX ATC 2017, §3.2): the destination of the next one was
//! chosen when the last one ended, and packets for that destination join it until it is sent.

mod turns;

use std::collections::VecDeque;

use airtcp_packet::{Ecn, Segment};
use airtcp_units::{BitRate, Duration, Instant};

use crate::frame::{Admission, PacketClass, QueuedPacket, Transmission};
use crate::queue::managed::ManagedQueue;
use crate::queue::{Discipline, EcnField, QueueLimit};
use crate::random::Stream;
use crate::scheduler::airtime::{AirtimeLimits, AirtimeScheduler};
use crate::scheduler::round_robin::RoundRobin;

/// The order in which destinations are served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queueing {
    /// One queue, first in, first out: as in older drivers.
    Fifo,
    /// A discipline in front of a driver's queue with this limit.
    Qdisc(QueueLimit),
    /// A queue for each destination, served round robin, one aggregate each.
    RoundRobin,
    /// A queue for each destination, served by airtime, as in mac80211.
    Airtime(AirtimeLimits),
}

/// The queues of a station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueingConfig {
    /// The order of service.
    pub scheme: Queueing,
    /// Limit on queued packets, for all destinations together, in each category.
    pub limit: QueueLimit,
    /// The discipline of each queue; not for [`Queueing::Fifo`].
    pub discipline: Discipline,
}

/// A new packet. It is moved several times before transmission, so it holds only the fields needed
/// until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting<P> {
    pub packet: P,
    pub class: PacketClass,
    pub flow: u32,
    pub bytes: u32,
    /// The station it is addressed to.
    pub to: u32,
}

impl<P: EcnField> EcnField for Waiting<P> {
    fn segment(&self) -> Option<&Segment> {
        self.packet.segment()
    }

    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }

    fn mark(&mut self) {
        self.packet.mark();
    }

    fn brake(&mut self) {
        self.packet.brake();
    }
}

/// A packet that is ready to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready<P> {
    /// Its position among all packets that became ready.
    pub order: u64,
    pub waiting: Waiting<P>,
}

#[derive(Clone, Debug)]
enum Above<P> {
    Nothing,
    Qdisc {
        queue: ManagedQueue<Waiting<P>>,
        driver: QueueLimit,
    },
    RoundRobin {
        queues: Vec<ManagedQueue<Waiting<P>>>,
        turns: RoundRobin,
    },
    Airtime {
        queues: Vec<ManagedQueue<Waiting<P>>>,
        scheduler: AirtimeScheduler,
        /// Destinations with aggregates that are with the hardware and not on the air yet.
        next: VecDeque<usize>,
        /// Whether an aggregate is on the air.
        is_sending: bool,
    },
}

/// Aggregates with the hardware, the one on the air included (Linux,
/// drivers/net/wireless/ath/ath9k, `ATH_AGGR_MIN_QDEPTH`).
const HARDWARE_AGGREGATES: usize = 2;

/// The queues of a station in one category. Destinations are numbered from 0.
#[derive(Clone, Debug)]
pub(super) struct Backlog<P> {
    limit: QueueLimit,
    above: Above<P>,
    ready: Vec<VecDeque<Ready<P>>>,
    ready_packets: usize,
    ready_bytes: u64,
    /// Packets and bytes in the queues of destinations.
    above_packets: usize,
    above_bytes: u64,
    /// Rates to the destinations, for estimates of airtime.
    rates: Vec<BitRate>,
    /// A rate, a size in bytes and the resulting airtime: most packets have the same.
    airtime: (BitRate, u64, Duration),
    orders: u64,
    dropped: VecDeque<P>,
}

impl<P: Copy + EcnField> Backlog<P> {
    /// Empty queues for destinations with these rates.
    pub(super) fn new(config: QueueingConfig, rates: Vec<BitRate>, draws: Stream) -> Self {
        let destinations = rates.len();
        let queue = |place: u64| {
            ManagedQueue::of(
                config.discipline,
                QueueLimit::Unlimited,
                draws.substream(place),
            )
        };
        let queues = || (0..destinations as u64).map(queue).collect();
        Self {
            limit: config.limit,
            above: match config.scheme {
                Queueing::Fifo => Above::Nothing,
                Queueing::Qdisc(driver) => Above::Qdisc {
                    queue: ManagedQueue::of(config.discipline, config.limit, draws),
                    driver,
                },
                Queueing::RoundRobin => Above::RoundRobin {
                    queues: queues(),
                    turns: RoundRobin::new(destinations),
                },
                Queueing::Airtime(limits) => Above::Airtime {
                    queues: queues(),
                    scheduler: AirtimeScheduler::new(limits, destinations),
                    next: VecDeque::with_capacity(HARDWARE_AGGREGATES),
                    is_sending: false,
                },
            },
            ready: (0..destinations).map(|_| VecDeque::new()).collect(),
            ready_packets: 0,
            ready_bytes: 0,
            above_packets: 0,
            above_bytes: 0,
            rates,
            airtime: (BitRate::from_bps(0), 0, Duration::MAX),
            orders: 0,
            dropped: VecDeque::new(),
        }
    }

    /// Number of queued packets.
    pub(super) fn packets(&self) -> usize {
        let above = match &self.above {
            Above::Qdisc { queue, .. } => queue.packets(),
            _ => self.above_packets,
        };
        self.ready_packets + above
    }

    /// Whether nothing can be sent now. Pending airtime may hold back queued packets.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        match self.above {
            Above::RoundRobin { .. } => self.packets() == 0,
            Above::Airtime { ref next, .. } => next.is_empty(),
            _ => self.ready_packets == 0,
        }
    }

    /// Adds a packet for a destination; returns `false` if there is no room.
    #[inline]
    pub(super) fn push(&mut self, now: Instant, to: usize, waiting: Waiting<P>) -> bool {
        if matches!(self.above, Above::Nothing) {
            let has_room =
                (self.limit).has_room(self.ready_packets, self.ready_bytes, waiting.bytes);
            if has_room {
                self.make_ready(to, waiting);
            }
            return has_room;
        }
        self.push_above(now, to, waiting)
    }

    /// The same if there are queues above the ready packets.
    fn push_above(&mut self, now: Instant, to: usize, waiting: Waiting<P>) -> bool {
        let bytes = waiting.bytes;
        if !self.make_room(now, bytes) {
            return false;
        }
        let queued = QueuedPacket {
            packet: waiting,
            transmission: Transmission {
                bytes,
                flow: waiting.flow,
                index: 0,
            },
            is_lost: false,
            since: now,
        };
        match &mut self.above {
            // Ready at once: see `push`.
            Above::Nothing => {}
            Above::Qdisc { queue, .. } => {
                if !queue.push(queued) {
                    return false;
                }
                self.refill(now);
            }
            Above::RoundRobin { queues, turns } => {
                let queue = &mut queues[to];
                if queue.push(queued) {
                    self.above_packets += 1;
                    self.above_bytes += u64::from(bytes);
                }
                let (packets, bytes) = drain(&mut queue.discarded, &mut self.dropped);
                self.above_packets -= packets;
                self.above_bytes -= bytes;
                turns.activate(to);
            }
            Above::Airtime {
                queues, scheduler, ..
            } => {
                let queue = &mut queues[to];
                if queue.push(queued) {
                    self.above_packets += 1;
                    self.above_bytes += u64::from(bytes);
                }
                let (packets, bytes) = drain(&mut queue.discarded, &mut self.dropped);
                self.above_packets -= packets;
                self.above_bytes -= bytes;
                if scheduler.activate(to) {
                    self.refill(now);
                }
            }
        }
        true
    }

    /// Makes room for a packet where destinations have separate queues: the longest is shortened,
    /// so that a slow destination does not take the room of all (Linux, include/net/fq_impl.h,
    /// `fq_tin_enqueue`). `false` if no room can be made.
    fn make_room(&mut self, now: Instant, bytes: u32) -> bool {
        let (Above::RoundRobin { queues, .. } | Above::Airtime { queues, .. }) = &mut self.above
        else {
            return true;
        };
        loop {
            let packets = self.ready_packets + self.above_packets;
            let all = self.ready_bytes + self.above_bytes;
            if self.limit.has_room(packets, all, bytes) {
                return true;
            }
            // The first of equally long ones.
            let longest = queues.iter_mut().rev().max_by_key(|queue| queue.bytes());
            let Some(longest) = longest.filter(|queue| queue.packets() > 0) else {
                return false;
            };
            longest.shorten(now);
            let (packets, bytes) = drain(&mut longest.discarded, &mut self.dropped);
            self.above_packets -= packets;
            self.above_bytes -= bytes;
        }
    }

    /// Passes packets to the driver as far as it has room.
    pub(super) fn refill(&mut self, now: Instant) {
        match &mut self.above {
            Above::Nothing | Above::RoundRobin { .. } => {}
            Above::Qdisc { queue, driver } => {
                let driver = *driver;
                while queue.packets() > 0
                    && driver.has_room(self.ready_packets, self.ready_bytes, 0)
                {
                    let Some(served) = queue.dequeue(now) else {
                        break;
                    };
                    let order = self.orders;
                    self.orders += 1;
                    self.ready_packets += 1;
                    self.ready_bytes += u64::from(served.transmission.bytes);
                    let to = place_of(served.packet.to);
                    self.ready[to].push_back(Ready {
                        order,
                        waiting: served.packet,
                    });
                }
                drain(&mut queue.discarded, &mut self.dropped);
            }
            Above::Airtime {
                scheduler,
                next,
                is_sending,
                ..
            } => {
                scheduler.begin_round();
                while next.len() + usize::from(*is_sending) < HARDWARE_AGGREGATES
                    && let Some(to) = scheduler.next()
                {
                    next.push_back(to);
                }
            }
        }
    }

    #[inline]
    fn make_ready(&mut self, to: usize, waiting: Waiting<P>) {
        self.ready_packets += 1;
        self.ready_bytes += u64::from(waiting.bytes);
        let order = self.orders;
        self.orders += 1;
        self.ready[to].push_back(Ready { order, waiting });
    }

    /// The next packet for a destination.
    #[inline(always)]
    pub(super) fn peek(&mut self, now: Instant, to: usize) -> Option<&Ready<P>> {
        if self.ready[to].is_empty() {
            self.pull(now, to);
        }
        self.ready[to].front()
    }

    /// Takes it; `make` gets it with its airtime while it is pending.
    #[inline]
    pub(super) fn take<T>(
        &mut self,
        to: usize,
        make: impl FnOnce(&Ready<P>, Duration) -> T,
    ) -> Option<T> {
        let ready = self.ready[to].front()?;
        let bytes = u64::from(ready.waiting.bytes);
        let mut airtime = Duration::ZERO;
        if let Above::Airtime { scheduler, .. } = &mut self.above {
            let rate = self.rates[to];
            if (self.airtime.0, self.airtime.1) != (rate, bytes) {
                self.airtime = (rate, bytes, rate.transmission_time(bytes));
            }
            airtime = self.airtime.2;
            scheduler.begin(to, airtime);
        }
        let made = make(ready, airtime);
        self.ready[to].pop_front();
        self.ready_packets -= 1;
        self.ready_bytes -= bytes;
        Some(made)
    }

    /// Takes a packet from a destination's queue if there is no driver's queue.
    #[inline(never)]
    fn pull(&mut self, now: Instant, to: usize) {
        let queues = match &mut self.above {
            Above::RoundRobin { queues, .. } => queues,
            Above::Airtime {
                queues, scheduler, ..
            } if scheduler.may_send(to) => queues,
            _ => return,
        };
        let queue = &mut queues[to];
        let (order, ready) = (self.orders, &mut self.ready[to]);
        let served = queue.serve(now, |served| {
            let waiting = served.packet;
            ready.push_back(Ready { order, waiting });
            u64::from(waiting.bytes)
        });
        let (packets, bytes) = drain(&mut queue.discarded, &mut self.dropped);
        self.above_packets -= packets;
        self.above_bytes -= bytes;
        if let Some(bytes) = served {
            self.orders += 1;
            self.above_packets -= 1;
            self.above_bytes -= bytes;
            self.ready_packets += 1;
            self.ready_bytes += bytes;
        }
    }

    /// A packet that a discipline dropped.
    #[inline]
    pub(super) fn take_dropped(&mut self) -> Option<P> {
        self.dropped.pop_front()
    }
}

/// The index of a packet's destination among its station's destinations.
pub(super) const fn place_of(station: u32) -> usize {
    // Mobiles send only to the access point, which is 0; that sends to stations from 1 on.
    station.saturating_sub(1) as usize
}

/// Moves packets dropped by a discipline, nearly always zero, to the list that the station reports;
/// returns their number and bytes.
#[inline]
fn drain<P>(
    discarded: &mut VecDeque<(Waiting<P>, Admission)>,
    dropped: &mut VecDeque<P>,
) -> (usize, u64) {
    let (packets, mut bytes) = (discarded.len(), 0);
    if packets > 0 {
        for (waiting, _) in discarded.drain(..) {
            bytes += u64::from(waiting.bytes);
            dropped.push_back(waiting.packet);
        }
    }
    (packets, bytes)
}

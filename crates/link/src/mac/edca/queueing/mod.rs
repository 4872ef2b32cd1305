//! Where packets wait at a station, in one access category, before they are sent.
//!
//! ```text
//!   fifo         ─────────────────────────────────────▶ ready ─▶ air
//!   qdisc        ─▶ discipline ────────────────────────▶ ready ─▶ air
//!   round robin  ─▶ discipline for each station ─▶ in turn ───▶ air
//!   airtime      ─▶ discipline for each station ─▶ deficits, pending airtime ─▶ next ─▶ air
//! ```
//!
//! What is ready is with the driver or the hardware: it is sent in the order in which it became
//! ready, but that an aggregate takes all packets for its destination at any position.
//!
//! By airtime the hardware has two aggregates, one on the air and one that is next, as ath9k gives
//! it (T. Høiland-Jørgensen et al., USENIX ATC 2017, §3.2): whose the next one is has been decided
//! when the last one ended, and what comes for that destination until it is sent joins it.

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

/// Who is served next among the destinations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queueing {
    /// One queue, first in, first out: as drivers had it.
    Fifo,
    /// A discipline in front of a driver's queue, whose limit this is.
    Qdisc(QueueLimit),
    /// A queue for each destination, served in turn, an aggregate each.
    RoundRobin,
    /// A queue for each destination, served by airtime, as mac80211 has it.
    Airtime(AirtimeLimits),
}

/// The queues of a station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueingConfig {
    /// Who is served.
    pub scheme: Queueing,
    /// What may wait, for all destinations together, in each category.
    pub limit: QueueLimit,
    /// Which packet of a queue is served, dropped or marked; not for [`Queueing::Fifo`].
    pub discipline: Discipline,
}

/// A packet that was never sent. It is moved some times before it is, so it has no more than it
/// needs until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting<P> {
    pub packet: P,
    pub class: PacketClass,
    pub flow: u32,
    pub bytes: u32,
    /// The station it is meant for.
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
}

/// A packet that is ready to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready<P> {
    /// Its place among all that became ready.
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
        /// Destinations whose aggregates are with the hardware and not on the air yet.
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
    /// Rates at which destinations are sent to, for estimates of airtime.
    rates: Vec<BitRate>,
    /// A rate, a size in bytes and the airtime they take: most packets have the same.
    airtime: (BitRate, u64, Duration),
    orders: u64,
    dropped: VecDeque<P>,
}

impl<P: Copy + EcnField> Backlog<P> {
    /// Empty queues for destinations that are sent to at these rates.
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

    /// Packets that wait.
    pub(super) fn packets(&self) -> usize {
        let above = match &self.above {
            Above::Qdisc { queue, .. } => queue.packets(),
            _ => self.above_packets,
        };
        self.ready_packets + above
    }

    /// Whether nothing can be sent now. Pending airtime may hold back what waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        match self.above {
            Above::RoundRobin { .. } => self.packets() == 0,
            Above::Airtime { ref next, .. } => next.is_empty(),
            _ => self.ready_packets == 0,
        }
    }

    /// Adds a packet for a destination, or says `false` when there is no room.
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

    /// The same where packets wait above what is ready.
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

    /// Makes room for a packet where destinations have queues of their own: the longest is
    /// shortened, so that one which is sent to slowly does not take the room of all (Linux,
    /// include/net/fq_impl.h, `fq_tin_enqueue`). `false` when there is none to be made.
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
            // Of equally long ones the first.
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

    /// Hands on to the driver what it has room for.
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

    /// Takes it; `make` is given it with the airtime that it counts for while it is pending.
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

    /// Takes a packet from a destination's own queue, where nothing stands between it and the air.
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

/// The place of a packet's destination among those of its station.
pub(super) const fn place_of(station: u32) -> usize {
    // Mobiles send to the access point alone, which is 0; that sends to stations from 1 on.
    station.saturating_sub(1) as usize
}

/// Moves what a discipline has dropped, nearly always nothing, to where its station tells of it;
/// packets and bytes.
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

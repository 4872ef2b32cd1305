//! The flow table, bounded in size.

use std::collections::HashMap;

use airtcp_packet::{Flags, Segment};
use airtcp_units::{Duration, Instant};

use super::copies::{Copies, Mark};
use super::{Chain, Flow, Half, PacketPool, Packets, Unlisted};
use crate::decode::{Endpoint, Tcp};
use crate::packet::{Packet, Way};

/// Idle time after which a flow has ended: the same ports later are another flow.
const IDLE: Duration = Duration::from_secs(300);
/// Flows seen this recently are dropped from the list only as a last resort.
const RECENT: Duration = Duration::from_secs(10);
/// Number of flows cached in front of the map.
const RECENT_FLOWS: usize = 256;

/// The ends of a flow, the lower first.
type Key = (Endpoint, Endpoint);

/// A flow during the pass.
#[derive(Debug)]
struct Entry {
    flow: Flow,
    copies: [Copies; 2],
}

/// All flows of a capture.
#[derive(Debug)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    current: HashMap<Key, u32>,
    /// Recent flows, indexed by a hash of their ports: avoids most searches in the map.
    recent: Box<[Option<(Key, u32)>; RECENT_FLOWS]>,
    kept: PacketPool,
    limit: usize,
    only: Option<Key>,
    begun: u32,
    unlisted: Unlisted,
    /// The latest time so far in the capture.
    latest: Instant,
}

impl Table {
    /// A table of at most `flows` flows, which stores at most `packets` of their packets, or of the
    /// flow between the ends `only`.
    pub fn new(flows: usize, packets: usize, only: Option<(Endpoint, Endpoint)>) -> Self {
        Self {
            entries: Vec::new(),
            current: HashMap::new(),
            recent: Box::new([None; RECENT_FLOWS]),
            kept: PacketPool::new(packets),
            limit: flows.max(2),
            only: only.map(|(one, other)| key(one, other)),
            begun: 0,
            unlisted: Unlisted::default(),
            latest: Instant::ZERO,
        }
    }

    /// Processes packet `number` of the capture, seen on `interface` at `time`. Flows use a
    /// monotonic time, whatever the order of the file.
    #[inline]
    pub fn take(&mut self, tcp: &Tcp, time: Instant, number: u64, interface: u32) {
        self.latest = self.latest.max(time);
        let now = self.latest;
        let index = self.find(tcp, now);
        let Some(entry) = self.entries.get_mut(index as usize) else {
            return;
        };
        let way = if tcp.source == entry.flow.client {
            Way::FromClient
        } else {
            Way::FromServer
        };
        if entry.copies[way.index()].takes(Mark::of(tcp, now, interface)) {
            entry.flow.copies += 1;
            return;
        }
        let flow = &mut entry.flow;
        flow.last = now;
        let [client, server] = &mut flow.halves;
        match way {
            Way::FromClient => client.count(&tcp.segment, tcp.are_options_cut, now, server),
            Way::FromServer => server.count(&tcp.segment, tcp.are_options_cut, now, client),
        }
        if flow.chain.state() != super::packet_pool::State::Whole {
            return;
        }
        let packet = Packet {
            time,
            number,
            way,
            segment: tcp.segment,
            identification: tcp.identification,
            hops: tcp.hops,
            radio: tcp.radio,
        };
        if !self.kept.push(&mut flow.chain, &packet) {
            self.push_with_less_room(index as usize, &packet);
        }
    }

    /// Index of the packet's flow, created for its first packet.
    #[inline]
    fn find(&mut self, tcp: &Tcp, now: Instant) -> u32 {
        let key = key(tcp.source, tcp.destination);
        let place = recent_place(&key);
        let recent = match &self.recent[place] {
            Some((recent, index)) if *recent == key => Some(*index),
            _ => None,
        };
        let known = recent.or_else(|| self.current.get(&key).copied());
        if let Some(index) = known
            && let Some(entry) = self.entries.get(index as usize)
            && !begins_another(&entry.flow, tcp, now)
        {
            if recent.is_none() {
                self.recent[place] = Some((key, index));
            }
            return index;
        }
        self.begin(key, tcp, now)
    }

    #[cold]
    fn begin(&mut self, key: Key, tcp: &Tcp, now: Instant) -> u32 {
        if self.entries.len() >= self.limit {
            self.strike_off(now);
        }
        let segment = &tcp.segment;
        let is_client = match (
            segment.flags.contains(Flags::SYN),
            segment.flags.contains(Flags::ACK),
        ) {
            (true, is_answer) => !is_answer,
            (false, _) => tcp.source.port >= tcp.destination.port,
        };
        let (client, server) = if is_client {
            (tcp.source, tcp.destination)
        } else {
            (tcp.destination, tcp.source)
        };
        self.begun = self.begun.saturating_add(1);
        let is_kept = self.only.is_none_or(|only| only == key);
        let flow = Flow {
            number: self.begun,
            client,
            server,
            halves: [Half::default(); 2],
            first: now,
            last: now,
            carrier: tcp.carrier,
            copies: 0,
            chain: if is_kept { Chain::EMPTY } else { Chain::CLOSED },
        };
        let index = self.entries.len() as u32;
        self.entries.push(Entry {
            flow,
            copies: Default::default(),
        });
        self.current.insert(key, index);
        self.recent[recent_place(&key)] = Some((key, index));
        index
    }

    /// Drops the smaller half of the list, recently seen flows last.
    fn strike_off(&mut self, now: Instant) {
        let mut order: Vec<(bool, u64, u32)> = self
            .entries
            .iter()
            .map(|entry| &entry.flow)
            .map(|flow| (now - flow.last < RECENT, flow.bytes(), flow.number))
            .collect();
        order.sort_unstable();
        order.truncate(order.len() / 2);
        let mut struck: Vec<u32> = order.into_iter().map(|(.., number)| number).collect();
        struck.sort_unstable();
        let (kept, unlisted) = (&mut self.kept, &mut self.unlisted);
        self.entries.retain_mut(|entry| {
            let flow = &mut entry.flow;
            if struck.binary_search(&flow.number).is_err() {
                return true;
            }
            kept.release(&mut flow.chain);
            unlisted.flows += 1;
            unlisted.packets += flow.halves[0].packets + flow.halves[1].packets;
            unlisted.bytes = unlisted.bytes.saturating_add(flow.bytes());
            false
        });
        self.recent.fill(None);
        self.current.clear();
        // Of two flows with the same 4-tuple the later one is current.
        for (index, entry) in (0..).zip(&self.entries) {
            self.current
                .insert(key(entry.flow.client, entry.flow.server), index);
        }
    }

    /// Makes room for a packet at the expense of smaller flows, or cuts the flow's chain.
    #[cold]
    fn push_with_less_room(&mut self, index: usize, packet: &Packet) {
        let mut holders: Vec<(u64, usize)> = (0..)
            .zip(&self.entries)
            .filter(|(_, entry)| entry.flow.chain.holds_blocks())
            .map(|(index, entry)| (entry.flow.bytes(), index))
            .collect();
        holders.sort_unstable();
        // The largest flow is analysed.
        holders.pop();
        for (_, holder) in holders {
            if self.kept.is_half_free() {
                break;
            }
            self.kept.release(&mut self.entries[holder].flow.chain);
        }
        let chain = &mut self.entries[index].flow.chain;
        if chain.state() == super::packet_pool::State::Whole && !self.kept.push(chain, packet) {
            chain.cut();
        }
    }

    /// The flows in the order of their numbers.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.entries.iter().map(|entry| &entry.flow)
    }

    /// Totals of unlisted flows.
    pub fn unlisted(&self) -> Unlisted {
        self.unlisted
    }

    /// Number of flows that began.
    pub fn begun(&self) -> u32 {
        self.begun
    }

    /// Stored packets of a flow.
    pub fn packets(&self, flow: &Flow) -> Packets<'_> {
        self.kept.packets(&flow.chain)
    }
}

#[inline]
fn key(one: Endpoint, other: Endpoint) -> Key {
    if one <= other {
        (one, other)
    } else {
        (other, one)
    }
}

/// Index of a flow in the cache of recent flows.
#[inline]
fn recent_place(key: &Key) -> usize {
    usize::from(key.0.port ^ key.1.port ^ key.0.address as u16 ^ key.1.address as u16)
        % RECENT_FLOWS
}

/// Whether a packet between a flow's ends starts another flow: a SYN with another number, or
/// anything after a long silence.
#[inline]
fn begins_another(flow: &Flow, tcp: &Tcp, now: Instant) -> bool {
    now - flow.last > IDLE || tcp.segment.flags.contains(Flags::SYN) && is_new_syn(flow, tcp)
}

#[cold]
fn is_new_syn(flow: &Flow, tcp: &Tcp) -> bool {
    let segment: &Segment = &tcp.segment;
    let sender = &flow.halves[usize::from(tcp.source != flow.client)];
    // The SYN+ACK belongs to the flow; a SYN from the server opens nothing new.
    !segment.flags.contains(Flags::ACK) && sender.is_seen() && sender.start() != segment.sequence
}

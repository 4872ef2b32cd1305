//! Disciplines by hand, and against the pseudo-code of their RFCs and the arithmetic of Linux.

mod by_hand;
mod linux;
mod pseudo_code;

use super::managed::ManagedQueue;
use super::*;
use crate::frame::QueuedPacket;
use crate::frame::Transmission;
use crate::random::Stream;
use airtcp_units::{Duration, Instant};

/// A packet with a number, and whether it may be and has been marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet {
    number: usize,
    ecn: Ecn,
}

impl EcnField for Packet {
    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        assert!(self.ecn.is_capable());
        self.ecn = Ecn::CongestionExperienced;
    }
}

const fn nanos(at: u64) -> Instant {
    Instant::from_nanos(at)
}

fn queue(discipline: Discipline, limit: QueueLimit) -> ManagedQueue<Packet> {
    ManagedQueue::new(discipline, limit, Stream::new(1, "hash")).unwrap()
}

fn waiting(now: u64, number: usize, flow: u32, bytes: u32, ecn: Ecn) -> QueuedPacket<Packet> {
    QueuedPacket {
        packet: Packet { number, ecn },
        transmission: Transmission {
            bytes,
            flow,
            index: number as u64,
        },
        is_lost: false,
        since: nanos(now),
    }
}

/// One departure from a queue: the packet served, if it is marked, and those dropped
/// before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    served: Option<(usize, bool)>,
    dropped: Vec<usize>,
}

fn step(queue: &mut ManagedQueue<Packet>, now: u64) -> Step {
    let served = queue.dequeue(nanos(now)).map(|waiting| waiting.packet);
    Step {
        served: served.map(|packet| {
            let marked = packet.ecn == Ecn::CongestionExperienced;
            (packet.number, marked)
        }),
        dropped: dropped(queue),
    }
}

fn dropped(queue: &mut ManagedQueue<Packet>) -> Vec<usize> {
    let numbers = queue.discarded.drain(..);
    numbers.map(|(packet, _)| packet.number).collect()
}

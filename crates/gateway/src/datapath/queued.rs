//! Treatment of packets in the kernel's queue.

use std::os::fd::{AsFd, BorrowedFd};

use airtcp_host::clock::Clock;
use airtcp_host::error::{Error, Result};
use airtcp_link::agent::Toward;
use airtcp_packet::wire::{self, WireError};
use airtcp_units::Instant;

use super::treatment::{self, Treatment};
use crate::agents::engine::Decision;
use crate::configuration::Settings;
use crate::meter::Meter;
use crate::packets::filter::SNAP_BYTES;
use crate::packets::packet_view::{FlowKeys, PacketView, is_of_the_connection, read_headers};
use crate::sockets::netlink::Verdict;
use crate::sockets::nfqueue::queues_in_use;
use crate::sockets::nfqueue::{Arrival, PacketId, Queues};
use crate::sockets::repeater::Repeater;

/// Maximum number of packets per batch: a burst of a large window.
const TURN: usize = 256;
/// The first queue number to try, and the number of attempts.
const FIRST_QUEUE: u16 = 4200;
const TRIED_QUEUES: u16 = 1000;
/// Whole packets, if agents keep copies.
const WHOLE: u32 = 0xffff;

/// Agents over the kernel's queues.
#[derive(Debug)]
pub struct Queued {
    treatment: Treatment<PacketId>,
    queues: Queues,
    repeater: Option<Repeater>,
    /// Packets that pass without an agent: the control group's, and unreadable ones.
    aside: Vec<PacketId>,
}

impl Queued {
    /// Creates agents over queues that receive no packets yet.
    ///
    /// # Errors
    /// The system forbids it.
    pub fn new(settings: &Settings) -> Result<Self> {
        let chain = &settings.chain;
        let directions: Vec<_> = [Toward::Mobile, Toward::Wired]
            .into_iter()
            .filter(|&toward| chain.sees(toward).is_some())
            .collect();
        let copied = if chain.repeats() { WHOLE } else { SNAP_BYTES };
        Ok(Self {
            treatment: Treatment::new(settings)?,
            queues: queues(settings.queue, &directions, copied)?,
            repeater: if chain.repeats() {
                Some(Repeater::new(&settings.mobile)?)
            } else {
                None
            },
            aside: Vec::new(),
        })
    }

    /// Switches to other agents or bounds; held packets are released first.
    ///
    /// # Errors
    /// A parameter of an agent is out of its range; then nothing has changed.
    pub fn reload(&mut self, settings: &Settings, now: Instant) -> Result<()> {
        let next = treatment::engine(settings)?;
        self.treatment.engine.release_all(now);
        self.decide()?;
        self.treatment.engine = next;
        Ok(())
    }

    /// The queues.
    pub const fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The agents and their counters.
    pub const fn treatment(&self) -> &Treatment<impl Copy + use<>> {
        &self.treatment
    }

    /// Reads a batch of packets from the queue and gives verdicts on decided packets. Returns
    /// whether there may be more.
    ///
    /// # Errors
    /// The kernel no longer answers.
    pub fn turn(&mut self, clock: Clock, keys: &FlowKeys, meter: &Meter) -> Result<bool> {
        let Self {
            treatment,
            queues,
            aside,
            ..
        } = self;
        let more = queues.read(TURN, |arrival| {
            treatment.tally.packets += 1;
            let Ok(packet) = read(&arrival) else {
                treatment.tally.unread += 1;
                aside.push(arrival.id);
                return;
            };
            if !keys.is_treated(&packet.ends) || is_of_the_connection(&packet.segment) {
                aside.push(arrival.id);
                return;
            }
            treatment.pass(clock, keys, meter, &packet, (arrival.id, arrival.bytes));
        })?;
        self.decide()?;
        Ok(more)
    }

    /// Handles everything due.
    ///
    /// # Errors
    /// The kernel no longer answers.
    pub fn wake(&mut self, clock: Clock) -> Result<()> {
        if let Some(due) = self.treatment.wake(clock.now()) {
            self.decide()?;
            self.treatment.tally.lateness.add(clock.now() - due);
        }
        Ok(())
    }

    /// Releases all packets, known or not, and unbinds the queues.
    pub fn release(&mut self, now: Instant) {
        self.treatment.engine.release_all(now);
        // Packets whose verdict cannot be delivered are released with the queue.
        let _ = self.decide();
        self.queues.release();
    }

    fn decide(&mut self) -> Result<()> {
        for id in self.aside.drain(..) {
            self.queues.decide(id, Verdict::Pass);
        }
        while let Some(decision) = self.treatment.engine.poll() {
            match decision {
                Decision::Pass(id) => self.queues.decide(id, Verdict::Pass),
                Decision::PassWithPriority(id, priority) => {
                    self.queues.decide(id, Verdict::PassWithPriority(priority));
                }
                Decision::PassChanged(id, bytes) => {
                    self.queues.decide(id, Verdict::PassChanged(&bytes));
                }
                Decision::Drop(id) => self.queues.decide(id, Verdict::Drop),
                Decision::Repeat(bytes) => {
                    if let Some(repeater) = &self.repeater {
                        repeater.send(&bytes);
                    }
                }
            }
        }
        self.queues.flush()
    }
}

impl AsFd for Queued {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queues.as_fd()
    }
}

/// Parses a packet. A complete one must have valid checksums: agents ignore packets that the
/// receiver will discard.
fn read(arrival: &Arrival<'_>) -> std::result::Result<PacketView, WireError> {
    let packet = read_headers(arrival.bytes, arrival.id.toward)?;
    if !arrival.is_cut {
        match arrival.bytes[0] >> 4 {
            4 => wire::parse(arrival.bytes).map(drop)?,
            _ => wire::parse_ipv6(arrival.bytes).map(drop)?,
        }
    }
    Ok(packet)
}

/// Opens the queues of these directions, at the given number or at the first free one.
fn queues(given: Option<u16>, directions: &[Toward], copied: u32) -> Result<Queues> {
    if let Some(base) = given {
        return Queues::new(base, directions, copied);
    }
    let used = queues_in_use();
    let count = u16::try_from(directions.len()).unwrap_or(1);
    let mut tried = Error::new("no packet queue is free; --config with queue = NUMBER names one");
    for base in (FIRST_QUEUE..FIRST_QUEUE + TRIED_QUEUES).step_by(usize::from(count.max(1))) {
        if (base..base + count).any(|queue| used.contains(&queue)) {
            continue;
        }
        match Queues::new(base, directions, copied) {
            Ok(queues) => return Ok(queues),
            // Another process may have just taken it; but a missing permission applies to every
            // number.
            Err(error) => {
                if !queues_in_use().contains(&base) {
                    return Err(error);
                }
                tried = error;
            }
        }
    }
    Err(tried)
}

//! The driver: real packets in, the network's own time, real packets out.

use std::os::fd::BorrowedFd;

use airtcp_network::{Content, Network, Packet};
use airtcp_units::Instant;
use rustix::event::{PollFd, PollFlags, poll};

use super::clock::{self, Clock};
use super::flows::{End, Flows};
use super::lateness::Lateness;
use super::outcomes::{Outcome, Outcomes};
use super::packet::{told, write_changes};
use super::reports::{Report, Reports};
use super::store::{Store, Ticket};
use crate::device::Tun;
use crate::error::{Result, Tried};
use crate::record::{Fate, Recording, Taken};

/// Packets that are read from one device before the next has its turn: as many as a burst of a
/// large window, so that reading is not what delays.
const TURN: usize = 64;
/// The longest IP packet.
const LONGEST: usize = 65_536;

/// What passed so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Packets into the link, from stations and from the server.
    pub taken: [u64; 2],
    /// Packets out of it, to the server and to stations.
    pub delivered: [u64; 2],
    /// Bytes out of it, to the server and to stations.
    pub delivered_bytes: [u64; 2],
    /// Packets whose bytes had given their place to later ones when they came out.
    pub outlived: u64,
    /// Packets that the kernel's own queue refused.
    pub refused: u64,
    /// Packets that the link lost.
    pub lost: u64,
    /// Packets that queues of the link dropped.
    pub dropped: u64,
}

/// A link between stations and a server.
#[derive(Debug)]
pub struct Link {
    network: Network<Ticket>,
    flows: Flows,
    store: Store,
    stations: Vec<Tun>,
    server: Vec<Tun>,
    clock: Clock,
    passed: Passed,
    lateness: Lateness,
    outcomes: Outcomes,
    recording: Option<Recording>,
    reports: Option<Reports>,
    buffer: Vec<u8>,
}

impl Link {
    /// A link over `network` whose stations and server send and receive by devices, a pair for each
    /// of the ways that `flows` knows. Time zero of the network is that of `clock`.
    pub fn new(
        network: Network<Ticket>,
        flows: Flows,
        stations: Vec<Tun>,
        server: Vec<Tun>,
        places: usize,
        clock: Clock,
    ) -> Self {
        Self {
            network,
            flows,
            store: Store::new(places),
            stations,
            server,
            clock,
            passed: Passed::default(),
            lateness: Lateness::default(),
            outcomes: Outcomes::default(),
            recording: None,
            reports: None,
            buffer: vec![0; LONGEST],
        }
    }

    /// The same link, which tells stations of their own segments.
    #[must_use]
    pub fn reporting(self, reports: Reports) -> Self {
        Self {
            outcomes: self.outcomes.hearing_links(),
            reports: Some(reports),
            ..self
        }
    }

    /// The same link, which tells `recording` of every packet.
    #[must_use]
    pub fn recorded(self, recording: Recording) -> Self {
        Self {
            outcomes: self.outcomes.detailed(),
            recording: Some(recording),
            ..self
        }
    }

    /// The recording, which ends.
    pub const fn take_recording(&mut self) -> Option<Recording> {
        self.recording.take()
    }

    /// Carries packets until `stop` can be read, or `each`, which is asked after every turn, says
    /// so.
    ///
    /// # Errors
    ///
    /// A device is gone.
    pub fn run(
        &mut self,
        stop: BorrowedFd<'_>,
        mut each: impl FnMut(&mut Self) -> bool,
    ) -> Result<()> {
        clock::wake_in_time();
        loop {
            let more = self.take_all()?;
            self.release()?;
            if !each(self) {
                return Ok(());
            }
            if more {
                continue;
            }
            let timeout = clock::wait(self.clock.now(), self.network.next_wakeup());
            let devices = self.stations.iter().chain(&self.server);
            let mut waited: Vec<_> = std::iter::once(PollFd::from_borrowed_fd(stop, PollFlags::IN))
                .chain(devices.map(|device| PollFd::new(device, PollFlags::IN)))
                .collect();
            match poll(&mut waited, timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    return Err(error).tried(|| "cannot wait for packets".to_owned());
                }
            }
            if !waited[0].revents().is_empty() {
                return Ok(());
            }
        }
    }

    /// What passed.
    pub const fn passed(&self) -> Passed {
        Passed {
            lost: self.outcomes.lost(),
            dropped: self.outcomes.dropped(),
            ..self.passed
        }
    }

    /// How late packets left.
    pub const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The time of the emulation.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Packets that wait now on the ways of all stations, the data's direction and the other.
    pub fn queued(&mut self) -> u64 {
        self.flows.queued(&mut self.network)
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.flows.connections()
    }

    /// Reads a turn of packets from every device. Returns whether one may have more.
    fn take_all(&mut self) -> Result<bool> {
        let mut more = false;
        for station in 0..self.stations.len() {
            more |= self.take(station, End::Station(station))?;
            more |= self.take(station, End::Server)?;
        }
        Ok(more)
    }

    fn take(&mut self, station: usize, from: End) -> Result<bool> {
        for _ in 0..TURN {
            let device = match from {
                End::Station(_) => &self.stations[station],
                End::Server => &self.server[station],
            };
            let Some(length) = device.read(&mut self.buffer)? else {
                return Ok(false);
            };
            let bytes = &self.buffer[..length];
            let Some(told) = told(bytes) else {
                continue;
            };
            self.passed.taken[usize::from(from == End::Server)] += 1;
            let ticket = self.store.keep(bytes, &told.content);
            let port = self.flows.port(&mut self.network, station, from, told.ends);
            let packet = port.packet(told.content, ticket);
            let now = self.clock.now();
            // What happened before the packet came is done before it is looked at.
            self.network.advance(now, &mut self.outcomes);
            if self.recording.is_some() {
                self.record(packet, station, from, now, length);
            }
            self.network.inject(now, packet, &mut self.outcomes);
        }
        Ok(true)
    }

    /// Moves the network on to now and hands what comes out to the kernel.
    fn release(&mut self) -> Result<()> {
        self.network.advance(self.clock.now(), &mut self.outcomes);
        self.record_outcomes();
        self.report();
        while let Some(arrival) = self.outcomes.next_arrival() {
            let Some(end) = self.flows.end(arrival.packet.flow, arrival.host) else {
                continue;
            };
            let Some(kept) = self.store.get(arrival.packet.carried) else {
                self.passed.outlived += 1;
                continue;
            };
            if let (Some(is), Some(was)) = (arrival.packet.segment(), kept.segment)
                && *is != was
            {
                // Its own bytes were read as a segment before; that they no longer are is no error
                // of the user's, and the packet goes as it came.
                let _ = write_changes(&mut kept.bytes, &was, is);
                kept.segment = Some(*is);
            }
            let station = self.flows.station(arrival.packet.flow);
            let (device, way) = match end {
                End::Server => (&self.server[station], 0),
                End::Station(station) => (&self.stations[station], 1),
            };
            let is_taken = device.write(&kept.bytes)?;
            if is_taken {
                self.passed.delivered[way] += 1;
                self.passed.delivered_bytes[way] += kept.bytes.len() as u64;
            } else {
                self.passed.refused += 1;
            }
            let now = self.clock.now();
            if let Some(recording) = &mut self.recording {
                let number = arrival.packet.carried.number();
                if is_taken {
                    recording.delivered(number, end, station, arrival.time, now, &kept.bytes);
                } else {
                    recording.ended(number, Fate::Refused, arrival.time);
                }
            }
            self.lateness.add(now - arrival.time);
        }
        Ok(())
    }

    /// Tells stations what their links have delivered.
    fn report(&mut self) {
        while let Some((packet, attempts)) = self.outcomes.next_acknowledged() {
            let (Some(reports), Some(port)) = (&self.reports, self.flows.sent_by_station(&packet))
            else {
                continue;
            };
            let kept = self.store.get(packet.carried);
            let ends = kept.and_then(|kept| told(&kept.bytes)?.ends);
            if let (Some(segment), Some((local, remote))) = (packet.segment(), ends) {
                let timeout = self.network.told_retry_timeout(port);
                let report = Report {
                    local,
                    remote,
                    sequence: segment.sequence.0,
                    retransmissions: attempts.saturating_sub(1),
                    retry_timeout_ns: timeout.map(airtcp_units::Duration::as_nanos),
                };
                reports.tell(self.flows.station(packet.flow), &report);
            }
        }
    }

    /// Tells the recording of a packet of `length` bytes that lies in the buffer.
    fn record(
        &mut self,
        packet: Packet<Ticket>,
        station: usize,
        from: End,
        now: Instant,
        length: usize,
    ) {
        let queued = self.network.queued_ahead(&packet);
        let Some(recording) = &mut self.recording else {
            return;
        };
        let taken = Taken {
            number: packet.carried.number(),
            flow: packet.flow,
            index: packet.index,
            station: u16::try_from(station).unwrap_or(u16::MAX),
            from,
            is_data: self.flows.sends_data(station, from),
            is_tcp: matches!(packet.content, Content::Segment(_)),
            bytes: packet.bytes(),
            arrived: now,
            queued: u32::try_from(queued).unwrap_or(u32::MAX),
        };
        recording.taken(&taken, &self.buffer[..length]);
    }

    /// Tells the recording what became of packets on their ways.
    fn record_outcomes(&mut self) {
        let Some(recording) = &mut self.recording else {
            return;
        };
        while let Some(outcome) = self.outcomes.next_outcome() {
            match outcome {
                Outcome::Attempted(ticket, attempts) => {
                    recording.attempted(ticket.number(), attempts);
                }
                Outcome::Dropped(ticket, time) => {
                    recording.ended(ticket.number(), Fate::Dropped, time);
                }
                Outcome::Lost(ticket, time) => recording.ended(ticket.number(), Fate::Lost, time),
            }
        }
    }
}

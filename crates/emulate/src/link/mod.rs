//! The driver: real packets in, the network in simulated time, real packets out.

pub mod arrivals;
mod devices;
pub mod ends;
pub mod flows;
pub mod latency;
pub mod outcomes;
pub mod packet;
pub mod scenario;

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use airtcp_host::clock;
use airtcp_host::clock::{Clock, Waking};
use airtcp_host::device::Tun;
use airtcp_host::error::{Result, Tried};
use airtcp_host::lateness::Lateness;
use airtcp_host::link_reports::{Report, Reports};
use airtcp_host::packet_store::{Store, Ticket};
use airtcp_network::{Content, Network, Packet};
use airtcp_units::Instant;
use rustix::event::poll;
use rustix::process::setsid;

use crate::carried_traffic::CarriedTraffic;
use crate::end::End;
use crate::record::{Fate, Ingress, Recording};
use arrivals::Arrivals;
use devices::{Devices, Ready};
use flows::Flows;
use latency::Latency;
use outcomes::{Outcome, Outcomes};
use packet::{describe, write_changes};

/// Buffers for packets in flight: a second of 1 Gbit/s, or 30 s of 30 Mbit/s.
pub const PLACES: usize = 1 << 16;
/// Maximum number of packets read from one device before the next: a burst of a large window, so
/// that reading does not delay.
const TURN: usize = 64;
/// The longest IP packet.
const MAX: usize = 65_536;

/// A link between stations and a server.
#[derive(Debug)]
pub struct Link {
    network: Network<Ticket>,
    flows: Flows,
    store: Store,
    devices: Arc<Devices>,
    clock: Clock,
    passed: CarriedTraffic,
    lateness: Lateness,
    measured: Option<Measured>,
    outcomes: Outcomes,
    recording: Option<Recording>,
    reports: Option<Reports>,
    buffer: Vec<u8>,
}

/// Measurements of the connections to one port.
#[derive(Debug)]
struct Measured {
    port: u16,
    latency: Latency,
    arrivals: Arrivals,
}

impl Link {
    /// Creates a link over `network`. Its stations and server send and receive through devices, a
    /// pair for each path in `flows`. The network's time zero is that of `clock`.
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
            devices: Arc::new(Devices::new(stations, server)),
            clock,
            passed: CarriedTraffic::default(),
            lateness: Lateness::default(),
            measured: None,
            outcomes: Outcomes::default(),
            recording: None,
            reports: None,
            buffer: vec![0; MAX],
        }
    }

    /// Sets the network's time zero to now, before any packet is carried. Returns the clock.
    pub fn begin(&mut self) -> Clock {
        self.clock = Clock::start();
        if let Some(recording) = &mut self.recording {
            recording.begins_at(clock::since_1970());
        }
        self.clock
    }

    /// Makes the link send reports on a station's segments to it.
    #[must_use]
    pub fn reporting(self, reports: Reports) -> Self {
        Self {
            outcomes: self.outcomes.hearing_links(),
            reports: Some(reports),
            ..self
        }
    }

    /// Makes the link record every packet.
    #[must_use]
    pub fn recorded(self, recording: Recording) -> Self {
        Self {
            outcomes: self.outcomes.detailed(),
            recording: Some(recording),
            ..self
        }
    }

    /// Makes the link time every data packet of connections to this port, keep the times until it
    /// ends, and count the data that arrives before `until`.
    #[must_use]
    pub fn measured(self, port: u16, until: Instant) -> Self {
        Self {
            measured: Some(Measured {
                port,
                latency: Latency::new(PLACES),
                arrivals: Arrivals::new(until),
            }),
            ..self
        }
    }

    /// The times of data packets, if measured.
    pub fn latency(&self) -> Option<&Latency> {
        self.measured.as_ref().map(|measured| &measured.latency)
    }

    /// The data that has arrived at each station's receiver, if counted.
    pub fn arrivals(&self) -> Option<&Arrivals> {
        self.measured.as_ref().map(|measured| &measured.arrivals)
    }

    /// Takes the recording, which ends it.
    pub const fn take_recording(&mut self) -> Option<Recording> {
        self.recording.take()
    }

    /// Carries packets until `stop` becomes readable, or until `each`, called after every turn,
    /// returns false.
    ///
    /// # Errors
    ///
    /// A device is gone.
    pub fn run(
        &mut self,
        stop: BorrowedFd<'_>,
        mut each: impl FnMut(&mut Self) -> bool,
    ) -> Result<()> {
        let waking = clock::wake_in_time();
        if waking == Waking::Ordinary {
            // Sessions share the processor equally (sched(7), autogroup): in that of a busy
            // terminal or build this thread would wait for the session's turn. The commands, which
            // already run, stay in theirs; a shell's job cannot leave (EPERM).
            let _ = setsid();
        }
        let devices = Arc::clone(&self.devices);
        let mut waited = devices.waited(stop);
        let mut ready = devices.all_ready();
        loop {
            self.take_all(&mut ready)?;
            self.release()?;
            if !each(self) {
                return Ok(());
            }
            if ready.any() {
                ready.set_all();
                continue;
            }
            let timeout = {
                let awake = waking.sleep_until(self.network.next_wakeup());
                clock::wait(self.clock.now(), awake)
            };
            match poll(&mut waited, timeout.as_ref()) {
                Ok(_) => ready.read_from(&waited),
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => {
                    return Err(error).tried(|| "cannot wait for packets".to_owned());
                }
            }
            if Devices::is_stopped(&waited) {
                // A command may have ended before its packets had their turn.
                self.take_all(&mut ready)?;
                self.release()?;
                return Ok(());
            }
        }
    }

    /// Traffic since the start.
    pub const fn passed(&self) -> CarriedTraffic {
        CarriedTraffic {
            lost: self.outcomes.lost(),
            dropped: self.outcomes.dropped(),
            ..self.passed
        }
    }

    /// Lateness of departing packets.
    pub const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The emulation's current time.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Packets now waiting on the paths of all stations, in the data direction and the other.
    pub fn queued(&mut self) -> u64 {
        self.flows.queued(&mut self.network)
    }

    /// Number of connections since the start.
    pub fn connections(&self) -> usize {
        self.flows.connections()
    }

    /// Reads a batch of packets from every ready device; devices that may have more stay ready.
    fn take_all(&mut self, ready: &mut Ready) -> Result<()> {
        for station in 0..self.devices.stations() {
            for end in [End::Station(station), End::Server] {
                if ready.is(station, end) {
                    let more = self.take(station, end)?;
                    ready.set(station, end, more);
                }
            }
        }
        Ok(())
    }

    /// Reads a batch of packets from a device. Returns whether it may have more.
    fn take(&mut self, station: usize, from: End) -> Result<bool> {
        for _ in 0..TURN {
            let device = self.devices.at(station, from);
            let Some(length) = device.read(&mut self.buffer)? else {
                return Ok(false);
            };
            let bytes = &self.buffer[..length];
            let Some(facts) = describe(bytes) else {
                continue;
            };
            self.passed.taken[usize::from(from == End::Server)] += 1;
            let ticket = self.store.keep(bytes, &facts.content);
            let port = self
                .flows
                .port(&mut self.network, station, from, facts.ends);
            let packet = port.packet(facts.content, ticket);
            let now = self.clock.now();
            // Events before the packet's arrival are processed before it.
            self.network.advance(now, &mut self.outcomes);
            if self.recording.is_some() {
                self.record(packet, station, from, now, length);
            }
            if let (Some(measured), Content::Segment(segment)) =
                (&mut self.measured, &facts.content)
                && is_of_port(facts.ends, measured.port)
            {
                let is_data = self.flows.sends_data(station, from);
                if is_data {
                    measured.arrivals.on_sent(station, segment);
                }
                let number = ticket.number();
                let latency = &mut measured.latency;
                latency.on_sent(now, number, packet.flow, is_data, segment);
            }
            self.network.inject(now, packet, &mut self.outcomes);
        }
        Ok(true)
    }

    /// Advances the network to now and hands departing packets to the kernel.
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
                // Its bytes were parsed as a segment before; if that fails now, the packet leaves
                // unchanged.
                let _ = write_changes(&mut kept.bytes, &was, is);
                kept.segment = Some(*is);
            }
            let station = self.flows.station(arrival.packet.flow);
            let device = self.devices.at(station, end);
            let way = usize::from(end != End::Server);
            let is_taken = device.write(&kept.bytes)?;
            if is_taken {
                self.passed.delivered[way] += 1;
                self.passed.delivered_bytes[way] += kept.bytes.len() as u64;
            } else {
                self.passed.refused += 1;
            }
            let now = self.clock.now();
            let number = arrival.packet.carried.number();
            if let (true, Some(measured), Some(segment)) =
                (is_taken, &mut self.measured, arrival.packet.segment())
            {
                let from = match end {
                    End::Server => End::Station(station),
                    End::Station(_) => End::Server,
                };
                let is_data = self.flows.sends_data(station, from);
                let (flow, latency) = (arrival.packet.flow, &mut measured.latency);
                let is_first = latency.on_delivered(now, number, flow, is_data, segment);
                if is_data && is_first {
                    measured.arrivals.on_delivered(now, station, segment);
                }
            }
            if let Some(recording) = &mut self.recording {
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

    /// Reports the links' deliveries to stations.
    fn report(&mut self) {
        while let Some((packet, attempts)) = self.outcomes.next_acknowledged() {
            let (Some(reports), Some(port)) = (&self.reports, self.flows.sent_by_station(&packet))
            else {
                continue;
            };
            let kept = self.store.get(packet.carried);
            let ends = kept.and_then(|kept| describe(&kept.bytes)?.ends);
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

    /// Records a packet of `length` bytes that is in the buffer.
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
        let taken = Ingress {
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

    /// Records the fates of packets in the network.
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
/// Whether a segment with these ends, source and destination, is of a connection to this port.
fn is_of_port(ends: Option<(SocketAddr, SocketAddr)>, port: u16) -> bool {
    ends.is_some_and(|(source, destination)| source.port() == port || destination.port() == port)
}

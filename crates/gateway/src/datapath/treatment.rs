//! The common part of a packet queue and inline forwarding: the agents, the time of their next
//! action, and the counters.

use airtcp_host::clock::Clock;
use airtcp_host::error::Result;
use airtcp_host::lateness::Lateness;
use airtcp_units::Instant;

use crate::agents::counts::Counts;
use crate::agents::engine::{Engine, PassingPacket};
use crate::configuration::Settings;
use crate::meter::Meter;
use crate::packets::packet_view::{FlowKeys, PacketView};

/// Counters of treated packets.
#[derive(Debug, Default)]
pub struct Tally {
    /// Lateness of held packets at their release.
    pub lateness: Lateness,
    /// Number of TCP packets that no agent could read.
    pub unread: u64,
    /// Number of packets received.
    pub packets: u64,
}

/// Agents over packets with handles of type `P`.
#[derive(Debug)]
pub struct Treatment<P> {
    /// The agents.
    pub engine: Engine<P>,
    /// The counters, which a reload keeps.
    pub tally: Tally,
}

impl<P: Copy> Treatment<P> {
    /// The agents of `settings`, without packets.
    ///
    /// # Errors
    /// A parameter of an agent is out of its range.
    pub fn new(settings: &Settings) -> Result<Self> {
        Ok(Self {
            engine: engine(settings)?,
            tally: Tally::default(),
        })
    }

    /// Passes a packet to the agents. `bytes` is empty if no agent keeps copies.
    pub fn pass(
        &mut self,
        clock: Clock,
        keys: &FlowKeys,
        meter: &Meter,
        packet: &PacketView,
        (handle, bytes): (P, &[u8]),
    ) {
        let flow = keys.key(&packet.ends);
        let passing = PassingPacket {
            flow,
            toward: packet.toward,
            segment: packet.segment,
            bytes,
            packet: handle,
            round_trip: meter.round_trip(flow),
        };
        self.engine.pass(clock.now(), &passing);
    }

    /// Wakes the agents if something is due. Returns the time at which it became due.
    pub fn wake(&mut self, now: Instant) -> Option<Instant> {
        let due = self.engine.next_wakeup();
        (due <= now).then(|| {
            self.engine.wake(now);
            due
        })
    }
}

/// The agents of `settings`.
///
/// # Errors
/// A parameter of an agent is out of its range.
pub fn engine<P: Copy>(settings: &Settings) -> Result<Engine<P>> {
    Engine::new(
        &settings.chain,
        settings.hold,
        settings.flows,
        settings.seed,
    )
}

/// Agents over packets with handles of any type.
pub trait Agents {
    /// Time of their next action.
    fn next_wakeup(&self) -> Instant;

    /// Latest time at which the first held packet must leave.
    fn oldest_deadline(&self) -> Option<Instant>;

    /// Counters of their actions.
    fn counts(&self) -> &Counts;

    /// Number of packets held now.
    fn held(&self) -> usize;
}

impl<P: Copy> Agents for Engine<P> {
    fn next_wakeup(&self) -> Instant {
        self.next_wakeup()
    }

    fn oldest_deadline(&self) -> Option<Instant> {
        self.oldest_deadline()
    }

    fn counts(&self) -> &Counts {
        self.counts()
    }

    fn held(&self) -> usize {
        self.held()
    }
}

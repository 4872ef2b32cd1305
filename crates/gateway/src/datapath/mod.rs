//! The three datapaths on which packets reach the agents.

pub mod inline;
mod queued;
mod treatment;

use std::os::fd::{AsFd, BorrowedFd};

use airtcp_host::clock::Clock;
use airtcp_host::error::Result;
use airtcp_link::agent::FlowKey;
use airtcp_units::Instant;

use crate::agents::counts::Counts;
use crate::configuration::Settings;
use crate::meter::Meter;
use crate::observe::Observer;
use crate::observe::forecast::Expected;
use crate::packets::packet_view::{FlowKeys, PacketView};
use crate::stations::Mac;
use inline::Inline;
use queued::Queued;
use treatment::{Agents, Tally};

/// A datapath to the agents.
#[derive(Debug)]
pub enum Datapath {
    /// Agents observe packets that have already passed.
    Observe(Box<Observer>),
    /// Packets wait in the kernel's queue.
    Queue(Box<Queued>),
    /// The gateway forwards packets itself.
    Inline(Box<Inline>),
}

impl Datapath {
    /// Creates the configured one. It receives no packets yet.
    ///
    /// # Errors
    ///
    /// The system does not allow something needed.
    pub fn new(settings: &Settings) -> Result<Self> {
        Ok(if settings.only_looks() {
            Self::Observe(Box::new(Observer::new(settings)?))
        } else if settings.inline {
            Self::Inline(Box::new(Inline::new(settings)?))
        } else {
            Self::Queue(Box::new(Queued::new(settings)?))
        })
    }

    /// Its name in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Observe(_) => "look",
            Self::Queue(_) => "queue",
            Self::Inline(_) => "inline",
        }
    }

    /// Processes a packet that has passed the device towards the mobiles.
    pub fn saw(
        &mut self,
        now: Instant,
        flow: FlowKey,
        packet: &PacketView,
        sender: Option<Mac>,
        meter: &Meter,
    ) {
        if let Self::Observe(look) = self {
            look.see(now, flow, packet, sender, meter.round_trip(flow));
        }
    }

    /// Whether agents learn from passing data, so that no packet may be skipped.
    pub fn needs_every_packet(&self) -> bool {
        matches!(self, Self::Observe(look) if look.sees_data())
    }

    /// Passes the radio's reports to agents that only observe.
    pub fn hear(&mut self) {
        if let Self::Observe(look) = self {
            look.hear();
        }
    }

    /// Processes a batch of packets. Returns whether there may be more.
    ///
    /// # Errors
    ///
    /// The device or queue is gone.
    pub fn turn(&mut self, clock: Clock, keys: &FlowKeys, meter: &Meter) -> Result<bool> {
        match self {
            Self::Observe(_) => Ok(false),
            Self::Queue(apply) => apply.turn(clock, keys, meter),
            Self::Inline(inline) => inline.turn(clock, keys, meter),
        }
    }

    /// Handles all due events.
    ///
    /// # Errors
    ///
    /// The device or queue is gone.
    pub fn wake(&mut self, clock: Clock) -> Result<()> {
        match self {
            // Its time advances with the packets.
            Self::Observe(_) => Ok(()),
            Self::Queue(apply) => apply.wake(clock),
            Self::Inline(inline) => {
                inline.wake(clock);
                Ok(())
            }
        }
    }

    /// Time at which to call [`wake`](Self::wake).
    pub fn next_wakeup(&self) -> Instant {
        match self {
            Self::Observe(_) => Instant::FAR_FUTURE,
            _ => self.agents().next_wakeup(),
        }
    }

    /// Latest time at which the first held packet must leave.
    pub fn oldest_deadline(&self) -> Option<Instant> {
        match self {
            Self::Observe(_) => None,
            _ => self.agents().oldest_deadline(),
        }
    }

    /// The descriptors to wait for.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Observe(_) => Vec::new(),
            Self::Queue(apply) => vec![apply.as_fd()],
            Self::Inline(inline) => inline.descriptors().collect(),
        }
    }

    /// Switches to other agents or bounds.
    ///
    /// # Errors
    /// A parameter of an agent is out of its range; then nothing has changed.
    pub fn reload(&mut self, settings: &Settings, now: Instant) -> Result<()> {
        match self {
            Self::Observe(look) => {
                **look = Observer::new(settings)?;
                Ok(())
            }
            Self::Queue(apply) => apply.reload(settings, now),
            Self::Inline(inline) => inline.reload(settings, now),
        }
    }

    /// Records that a successor receives all new packets.
    pub fn follow(&mut self) {
        if let Self::Inline(inline) = self {
            inline.follow();
        }
    }

    /// Checks for devices that vanished and returned.
    pub fn look_after_devices(&mut self) {
        if let Self::Inline(inline) = self {
            inline.look_after_devices();
        }
    }

    /// Releases all packets.
    pub fn release(&mut self, now: Instant) {
        match self {
            Self::Observe(_) => {}
            Self::Queue(apply) => apply.release(now),
            Self::Inline(inline) => inline.release(now),
        }
    }

    fn agents(&self) -> &dyn Agents {
        match self {
            Self::Observe(look) => look.engine(),
            Self::Queue(apply) => &apply.treatment().engine,
            Self::Inline(inline) => &inline.treatment().engine,
        }
    }

    /// Counters of the agents' actions, real or hypothetical.
    pub fn counts(&self) -> Counts {
        *self.agents().counts()
    }

    /// Number of packets held now.
    pub fn holding(&self) -> usize {
        self.agents().held()
    }

    /// Counters of the packets, if they are actually treated.
    pub fn tally(&self) -> Option<&Tally> {
        match self {
            Self::Observe(_) => None,
            Self::Queue(apply) => Some(&apply.treatment().tally),
            Self::Inline(inline) => Some(&inline.treatment().tally),
        }
    }

    /// Number of packets received.
    pub fn packets(&self) -> u64 {
        self.tally().map_or(0, |tally| tally.packets)
    }

    /// Number of failed attempts on the radio, if agents need them.
    pub fn failed_attempts(&self) -> Option<u64> {
        match self {
            Self::Observe(look) => look.failed_attempts(),
            Self::Queue(_) | Self::Inline(_) => None,
        }
    }

    /// The forecast of the mobiles' timeouts, if packets are only observed.
    pub fn expected(&self) -> Option<Expected> {
        match self {
            Self::Observe(look) => Some(look.forecast().expected()),
            Self::Queue(_) | Self::Inline(_) => None,
        }
    }
}

//! Media that stations share or that retransmit: into them, out of them, and to which agents they
//! report.

use std::marker::PhantomData;

use airtcp_link::agent::LinkEvent;
use airtcp_link::mac::arq::{ArqConfig, ArqLink};
use airtcp_link::mac::cellular::{Cell, CellConfig};
use airtcp_link::mac::dcf::{Bss, BssConfig};
use airtcp_link::mac::selective_repeat::{SelectiveRepeatConfig, SelectiveRepeatLink};
use airtcp_link::mac::{ChannelObserver, Occupancy, Offer, Outcome, PacketClass, Urgency};
use airtcp_link::{Admission, Stream};
use airtcp_units::{Duration, Instant};

use crate::alarm::Alarm;
use crate::hop::AirHop;
use crate::hosts::Hosts;
use crate::packet::Packet;
use crate::{Network, Turn};

/// The station that stands for the access point or the base station.
pub const ACCESS_POINT: u16 = 0;

/// A kind of medium.
#[derive(Clone, Debug)]
pub enum MediumKind {
    /// An IEEE 802.11 channel.
    Bss(Box<BssConfig>),
    /// A stop-and-wait link, from the access point to a mobile.
    Arq(Box<ArqConfig>),
    /// A selective-repeat link between an access point and a mobile.
    SelectiveRepeat(Box<SelectiveRepeatConfig>),
    /// The downlink of a cell.
    Cell(Box<CellConfig>),
}

/// A medium, and the agents it reports to.
#[derive(Clone, Debug)]
pub struct MediumConfig {
    /// The name of its random stream.
    pub name: String,
    /// Its kind.
    pub kind: MediumKind,
    /// Agents that hear of every attempt to reach a mobile.
    pub reports_to: Vec<u16>,
    /// The agent that knows how urgent packets to a mobile are.
    pub informed_by: Option<u16>,
    /// Whether senders that listen to the link are told after how long it retransmits, where that
    /// is a fixed time.
    pub tells_retry_timeout: bool,
}

impl MediumConfig {
    /// A medium that reports to nobody.
    #[must_use]
    pub fn new(name: &str, kind: MediumKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            reports_to: Vec::new(),
            informed_by: None,
            tells_retry_timeout: false,
        }
    }
}

#[derive(Clone, Debug)]
enum Medium<C> {
    Bss(Box<Bss<Packet<C>>>),
    Arq(Box<ArqLink<Packet<C>>>),
    SelectiveRepeat(Box<SelectiveRepeatLink<Packet<C>>>),
    Cell(Box<Cell<Packet<C>>>),
}

/// A medium in the network.
#[derive(Clone, Debug)]
pub(crate) struct MediumNode<C> {
    medium: Medium<C>,
    reports_to: Vec<u16>,
    informed_by: Option<u16>,
    /// After how long the link retransmits, if senders are told.
    told_retry_timeout: Option<Duration>,
    alarm: Alarm,
}

impl<C: Copy> MediumNode<C> {
    /// A medium at rest.
    pub(crate) fn new(config: MediumConfig, seed: u64) -> Self {
        const CHECKED: &str = "what a scenario says of a medium is checked when it is read";
        let stream = Stream::new(seed, &config.name);
        let medium = match &config.kind {
            MediumKind::Bss(bss) => Medium::Bss(Box::new(Bss::new(bss, stream).expect(CHECKED))),
            MediumKind::Arq(arq) => {
                Medium::Arq(Box::new(ArqLink::new(arq, stream).expect(CHECKED)))
            }
            MediumKind::SelectiveRepeat(link) => Medium::SelectiveRepeat(Box::new(
                SelectiveRepeatLink::new(link, stream).expect(CHECKED),
            )),
            MediumKind::Cell(cell) => {
                Medium::Cell(Box::new(Cell::new(cell, stream).expect(CHECKED)))
            }
        };
        Self {
            medium,
            reports_to: config.reports_to,
            informed_by: config.informed_by,
            told_retry_timeout: match &config.kind {
                MediumKind::SelectiveRepeat(link) if config.tells_retry_timeout => {
                    Some(link.retry_timeout)
                }
                _ => None,
            },
            alarm: Alarm::default(),
        }
    }

    #[inline]
    fn push(
        &mut self,
        now: Instant,
        hop: AirHop,
        offer: Offer,
        packet: Packet<C>,
        observer: &mut impl ChannelObserver,
    ) -> bool {
        let (from, to) = (u32::from(hop.from), u32::from(hop.to));
        match &mut self.medium {
            Medium::Bss(bss) => bss.push(now, from, to, offer, packet),
            Medium::Arq(link) => link.push(now, offer, packet, observer),
            Medium::SelectiveRepeat(link) => link.push(now, from, offer, packet, observer),
            Medium::Cell(cell) => cell.push(now, to, offer, packet),
        }
    }

    #[inline]
    fn next_wakeup(&self) -> Instant {
        match &self.medium {
            Medium::Bss(bss) => bss.next_wakeup(),
            Medium::Arq(link) => link.next_wakeup(),
            Medium::SelectiveRepeat(link) => link.next_wakeup(),
            Medium::Cell(cell) => cell.next_wakeup(),
        }
    }

    #[inline]
    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        match &mut self.medium {
            Medium::Bss(bss) => bss.on_wakeup(now, observer),
            Medium::Arq(link) => link.on_wakeup(now, observer),
            Medium::SelectiveRepeat(link) => link.on_wakeup(now, observer),
            Medium::Cell(cell) => cell.on_wakeup(now, observer),
        }
    }

    /// Packets that wait at a station; at a base station those for one mobile.
    pub(crate) fn queued_packets(&self, station: u16, mobile: u16) -> usize {
        match &self.medium {
            Medium::Bss(bss) => bss.queued_packets(u32::from(station)),
            Medium::Arq(link) => link.queued_packets(),
            Medium::SelectiveRepeat(link) => link.queued_packets(u32::from(station)),
            Medium::Cell(cell) => cell.queued_packets(u32::from(mobile)),
        }
    }

    /// Packets that wait at a station for another turn.
    pub(crate) fn retries(&self, station: u16) -> [usize; 3] {
        match &self.medium {
            Medium::Bss(bss) => bss.retries(u32::from(station)),
            Medium::Arq(link) => link.retries(),
            Medium::SelectiveRepeat(link) => link.retries(u32::from(station)),
            Medium::Cell(_) => [0; 3],
        }
    }

    /// Signal-to-noise ratio between a station and the access point.
    pub(crate) fn snr_db(&self, station: u16, now: Instant) -> Option<f64> {
        match &self.medium {
            Medium::Bss(bss) => bss.snr_db(u32::from(station), now),
            Medium::Arq(_) | Medium::SelectiveRepeat(_) => None,
            Medium::Cell(cell) => cell.snr_db(u32::from(station), now),
        }
    }

    /// After how long the link retransmits, if senders are to be told.
    pub(crate) const fn told_retry_timeout(&self) -> Option<Duration> {
        self.told_retry_timeout
    }

    /// Whether the link says when the sender has its acknowledgment.
    #[inline]
    const fn tells_of_acknowledgments(&self) -> bool {
        matches!(self.medium, Medium::SelectiveRepeat(_))
    }

    #[inline]
    fn poll(&mut self) -> Option<Outcome<Packet<C>>> {
        match &mut self.medium {
            Medium::Bss(bss) => bss.poll(),
            Medium::Arq(link) => link.poll(),
            Medium::SelectiveRepeat(link) => link.poll(),
            Medium::Cell(cell) => cell.poll(),
        }
    }
}

/// Hands what happens on a channel to the hosts.
struct Channel<'a, C, A, H> {
    medium: u16,
    hosts: &'a mut H,
    network: PhantomData<(C, A)>,
}

impl<'a, C, A, H> Channel<'a, C, A, H> {
    const fn new(medium: u16, hosts: &'a mut H) -> Self {
        Self {
            medium,
            hosts,
            network: PhantomData,
        }
    }
}

impl<C: Copy + Default, A: Copy, H: Hosts<C, A>> ChannelObserver for Channel<'_, C, A, H> {
    #[inline]
    fn occupied(&mut self, occupancy: &Occupancy) {
        self.hosts.occupied(self.medium, occupancy);
    }
}

impl<C: Copy + Default, A: Copy> Network<C, A> {
    /// Schedules the first event of a medium that has one of its own.
    pub(crate) fn arm_medium(&mut self, index: u16) {
        let node = &mut self.media[usize::from(index)];
        let wanted = node.next_wakeup();
        node.alarm
            .arm(&mut self.queue, self.now, wanted, Turn::Medium(index));
    }

    /// Hands a packet to a station's queue.
    #[inline(never)]
    pub(crate) fn enter_air(
        &mut self,
        packet: &Packet<C>,
        hop: AirHop,
        hosts: &mut impl Hosts<C, A>,
    ) {
        let now = self.now;
        let offer = Offer {
            bytes: packet.bytes(),
            flow: packet.flow,
            class: packet.class(),
            urgency: self.urgency(packet, hop),
        };
        let node = &mut self.media[usize::from(hop.medium)];
        let mut channel = Channel::new(hop.medium, &mut *hosts);
        let admitted = node.push(now, hop, offer, *packet, &mut channel);
        self.arm_medium(hop.medium);
        if !admitted {
            hosts.lost(self, packet, Admission::Overflow);
        }
    }

    /// Urgency of a packet to a mobile, where an agent knows.
    #[inline]
    fn urgency(&mut self, packet: &Packet<C>, hop: AirHop) -> Option<Urgency> {
        let agent = self.media[usize::from(hop.medium)].informed_by?;
        if hop.from != ACCESS_POINT || packet.class() != PacketClass::Data {
            return None;
        }
        let segment = *packet.segment()?;
        self.agents[usize::from(agent)].urgency(self.now, packet.flow, &segment)
    }

    /// A medium wants to be woken.
    #[inline]
    pub(crate) fn on_medium(&mut self, index: u16, hosts: &mut impl Hosts<C, A>) {
        let now = self.now;
        let node = &mut self.media[usize::from(index)];
        if !node.alarm.rings(&mut self.queue, now) {
            return;
        }
        if node.next_wakeup() <= now {
            let mut channel = Channel::new(index, &mut *hosts);
            node.on_wakeup(now, &mut channel);
            while let Some(outcome) = self.media[usize::from(index)].poll() {
                self.on_outcome(index, outcome, hosts);
            }
        }
        let node = &mut self.media[usize::from(index)];
        let wanted = node.next_wakeup();
        node.alarm.rearm(&mut self.queue, now, wanted);
    }

    /// The outcome of a packet on the air.
    #[inline]
    fn on_outcome(
        &mut self,
        medium: u16,
        outcome: Outcome<Packet<C>>,
        hosts: &mut impl Hosts<C, A>,
    ) {
        match outcome {
            Outcome::Delivered {
                mut packet,
                from,
                attempts,
                ..
            } => {
                hosts.crossed_air(&packet, attempts);
                self.report(medium, &packet, from, LinkEvent::Delivered, hosts);
                if !self.media[usize::from(medium)].tells_of_acknowledgments() {
                    hosts.acknowledged_by_link(self.now, &packet, attempts);
                }
                packet.next += 1;
                self.forward(&packet, hosts);
            }
            Outcome::Acknowledged {
                packet, attempts, ..
            } => hosts.acknowledged_by_link(self.now, &packet, attempts),
            Outcome::Retried { packet, from, .. } => {
                self.report(medium, &packet, from, LinkEvent::AttemptFailed, hosts);
            }
            Outcome::Discarded {
                packet,
                from,
                attempts,
                arrived,
                ..
            } => {
                if arrived {
                    return;
                }
                hosts.crossed_air(&packet, attempts);
                self.report(medium, &packet, from, LinkEvent::Discarded, hosts);
                hosts.lost(self, &packet, Admission::Lost);
            }
        }
    }

    /// Tells the agents that want to know what became of a packet to a mobile.
    #[inline]
    fn report(
        &mut self,
        medium: u16,
        packet: &Packet<C>,
        from: u32,
        event: LinkEvent,
        hosts: &mut impl Hosts<C, A>,
    ) {
        let listeners = self.media[usize::from(medium)].reports_to.len();
        if listeners == 0 || from != u32::from(ACCESS_POINT) {
            return;
        }
        let Some(&segment) = packet.segment() else {
            return;
        };
        for listener in 0..listeners {
            let agent = self.media[usize::from(medium)].reports_to[listener];
            self.tell_agent(agent, packet.flow, &segment, event, hosts);
        }
    }
}

//! Media that stations share or that send again: into them, out of them, and whom they report to.

use airtcp_link::agent::LinkEvent;
use airtcp_link::mac::arq::{ArqConfig, ArqLink};
use airtcp_link::mac::cellular::{Cell, CellConfig};
use airtcp_link::mac::dcf::{Bss, BssConfig};
use airtcp_link::mac::selective_repeat::{SelectiveRepeatConfig, SelectiveRepeatLink};
use airtcp_link::mac::{ChannelObserver, Occupancy, Offer, Outcome, PacketClass, Urgency};
use airtcp_link::{Admission, Stream};
use airtcp_packet::LinkFeedback;
use airtcp_units::{Duration, Instant};

use super::hop::AirHop;
use super::{Network, Packet, Turn};
use crate::engine::watch::{FlowEvent, Watch};

/// The station that stands for the access point or the base station.
pub const ACCESS_POINT: u16 = 0;

/// What a medium is.
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

/// A medium, and whom it reports to.
#[derive(Clone, Debug)]
pub struct MediumConfig {
    /// The name of its random stream.
    pub name: String,
    /// What it is.
    pub kind: MediumKind,
    /// Agents that hear of every attempt to reach a mobile.
    pub reports_to: Vec<u16>,
    /// The agent that knows how urgent packets to a mobile are.
    pub informed_by: Option<u16>,
    /// Whether senders that listen to the link are told after how long it retransmits, where that
    /// is a fixed time.
    pub tells_retry_timeout: bool,
}

#[derive(Clone, Debug)]
enum Medium {
    Bss(Box<Bss<Packet>>),
    Arq(Box<ArqLink<Packet>>),
    SelectiveRepeat(Box<SelectiveRepeatLink<Packet>>),
    Cell(Box<Cell<Packet>>),
}

/// A medium in the network.
#[derive(Clone, Debug)]
pub(super) struct MediumNode {
    medium: Medium,
    reports_to: Vec<u16>,
    informed_by: Option<u16>,
    /// After how long the link retransmits, if senders are told.
    told_retry_timeout: Option<Duration>,
    /// Time of the pending event; [`Instant::FAR_FUTURE`] when there is none. It may be earlier
    /// than the medium now wants.
    pending: Instant,
}

impl MediumNode {
    /// A medium at rest.
    pub(super) fn new(config: MediumConfig, seed: u64) -> Self {
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
        let mut node = Self {
            medium,
            reports_to: config.reports_to,
            informed_by: config.informed_by,
            told_retry_timeout: match &config.kind {
                MediumKind::SelectiveRepeat(link) if config.tells_retry_timeout => {
                    Some(link.retry_timeout)
                }
                _ => None,
            },
            pending: Instant::FAR_FUTURE,
        };
        node.pending = node.next_wakeup();
        node
    }

    /// When the medium is to be looked at next.
    pub(super) const fn pending(&self) -> Instant {
        self.pending
    }

    #[inline]
    fn push(
        &mut self,
        now: Instant,
        hop: AirHop,
        offer: Offer,
        packet: Packet,
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
    pub(super) fn queued_packets(&self, station: u16, mobile: u16) -> usize {
        match &self.medium {
            Medium::Bss(bss) => bss.queued_packets(u32::from(station)),
            Medium::Arq(link) => link.queued_packets(),
            Medium::SelectiveRepeat(link) => link.queued_packets(u32::from(station)),
            Medium::Cell(cell) => cell.queued_packets(u32::from(mobile)),
        }
    }

    /// Packets that wait at a station for another turn.
    pub(super) fn retries(&self, station: u16) -> [usize; 3] {
        match &self.medium {
            Medium::Bss(bss) => bss.retries(u32::from(station)),
            Medium::Arq(link) => link.retries(),
            Medium::SelectiveRepeat(link) => link.retries(u32::from(station)),
            Medium::Cell(_) => [0; 3],
        }
    }

    /// Signal-to-noise ratio between a station and the access point.
    pub(super) fn snr_db(&self, station: u16, now: Instant) -> Option<f64> {
        match &self.medium {
            Medium::Bss(bss) => bss.snr_db(u32::from(station), now),
            Medium::Arq(_) | Medium::SelectiveRepeat(_) => None,
            Medium::Cell(cell) => cell.snr_db(u32::from(station), now),
        }
    }

    /// After how long the link retransmits, if senders are to be told.
    pub(super) const fn told_retry_timeout(&self) -> Option<Duration> {
        self.told_retry_timeout
    }

    /// Whether the link says when the sender has its acknowledgment.
    #[inline]
    const fn tells_of_acknowledgments(&self) -> bool {
        matches!(self.medium, Medium::SelectiveRepeat(_))
    }

    #[inline]
    fn poll(&mut self) -> Option<Outcome<Packet>> {
        match &mut self.medium {
            Medium::Bss(bss) => bss.poll(),
            Medium::Arq(link) => link.poll(),
            Medium::SelectiveRepeat(link) => link.poll(),
            Medium::Cell(cell) => cell.poll(),
        }
    }
}

/// Hands what happens on a channel to whoever watches the run.
struct Channel<'a, W> {
    medium: u16,
    watch: &'a mut W,
}

impl<W: Watch> ChannelObserver for Channel<'_, W> {
    #[inline]
    fn occupied(&mut self, occupancy: &Occupancy) {
        self.watch.occupied(self.medium, occupancy);
    }
}

impl Network {
    /// Hands a packet to a station's queue.
    #[inline(never)]
    pub(super) fn enter_air(&mut self, packet: Packet, hop: AirHop, watch: &mut impl Watch) {
        let now = self.now;
        let offer = Offer {
            bytes: packet.bytes(),
            flow: packet.flow,
            class: packet.class(),
            urgency: self.urgency(&packet, hop),
        };
        let node = &mut self.media[usize::from(hop.medium)];
        let mut channel = Channel {
            medium: hop.medium,
            watch: &mut *watch,
        };
        let admitted = node.push(now, hop, offer, packet, &mut channel);
        let next = node.next_wakeup();
        if next < node.pending {
            node.pending = next.max(now);
            self.queue.schedule(node.pending, Turn::Medium(hop.medium));
        }
        if !admitted {
            self.on_loss(&packet, Admission::Overflow, watch);
        }
    }

    /// How urgent a packet to a mobile is, where an agent knows.
    #[inline]
    fn urgency(&mut self, packet: &Packet, hop: AirHop) -> Option<Urgency> {
        let agent = self.media[usize::from(hop.medium)].informed_by?;
        if hop.from != ACCESS_POINT || packet.class() != PacketClass::Data {
            return None;
        }
        let segment = *packet.segment()?;
        self.agents[usize::from(agent)].urgency(self.now, packet.flow, &segment)
    }

    /// A medium wants to be woken.
    #[inline]
    pub(super) fn on_medium(&mut self, index: u16, watch: &mut impl Watch) {
        let now = self.now;
        let node = &mut self.media[usize::from(index)];
        if node.pending != now {
            // It has announced an earlier time since.
            self.queue.remove_first();
            return;
        }
        if node.next_wakeup() <= now {
            let mut channel = Channel {
                medium: index,
                watch,
            };
            node.on_wakeup(now, &mut channel);
            while let Some(outcome) = self.media[usize::from(index)].poll() {
                self.on_outcome(index, outcome, watch);
            }
        }
        let node = &mut self.media[usize::from(index)];
        node.pending = node.next_wakeup();
        debug_assert!(
            node.pending >= now,
            "a medium wants to be woken in the past"
        );
        if node.pending == Instant::FAR_FUTURE {
            self.queue.remove_first();
        } else {
            self.queue.reschedule_first(node.pending);
        }
    }

    /// What became of a packet on the air.
    #[inline]
    fn on_outcome(&mut self, medium: u16, outcome: Outcome<Packet>, watch: &mut impl Watch) {
        match outcome {
            Outcome::Delivered {
                mut packet,
                from,
                attempts,
                ..
            } => {
                self.flows[packet.flow as usize].tally.on_air(attempts);
                self.report(medium, &packet, from, LinkEvent::Delivered, watch);
                if !self.media[usize::from(medium)].tells_of_acknowledgments() {
                    self.tell_sender(&packet, attempts, watch);
                }
                packet.next += 1;
                self.forward(packet, watch);
            }
            Outcome::Acknowledged {
                packet, attempts, ..
            } => self.tell_sender(&packet, attempts, watch),
            Outcome::Retried { packet, from, .. } => {
                self.report(medium, &packet, from, LinkEvent::AttemptFailed, watch);
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
                self.flows[packet.flow as usize].tally.on_air(attempts);
                self.report(medium, &packet, from, LinkEvent::Discarded, watch);
                self.on_loss(&packet, Admission::Lost, watch);
            }
        }
    }

    /// Tells a sender that its own link, the first on the way, has delivered a segment.
    #[inline]
    fn tell_sender(&mut self, packet: &Packet, attempts: u32, watch: &mut impl Watch) {
        let flow = &mut self.flows[packet.flow as usize];
        if !flow.hears_link || packet.next != flow.client.route {
            return;
        }
        let Some(segment) = packet.segment() else {
            return;
        };
        let feedback = LinkFeedback::Delivered {
            sequence: segment.sequence,
            retransmissions: attempts.saturating_sub(1),
        };
        let (now, index) = (self.now, packet.flow);
        flow.client
            .connection
            .on_feedback(now, &feedback, &mut |now, event| {
                watch.event(now, index, FlowEvent::Sender(event));
            });
    }

    /// Tells the agents that want to know what became of a packet to a mobile.
    #[inline]
    fn report(
        &mut self,
        medium: u16,
        packet: &Packet,
        from: u32,
        event: LinkEvent,
        watch: &mut impl Watch,
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
            self.tell_agent(agent, packet.flow, &segment, event, watch);
        }
    }
}

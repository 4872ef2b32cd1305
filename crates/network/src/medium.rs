//! Media that stations share or that retransmit: entering them, leaving them, and the agents that
//! they report to.

use std::marker::PhantomData;

use airtcp_link::agent::LinkEvent;
use airtcp_link::frame::{self, ChannelObserver, Occupancy, Offer, Outcome, PacketClass, Urgency};
use airtcp_link::mac::arq::{ArqConfig, ArqLink};
use airtcp_link::mac::cellular::{Cell, CellConfig};
use airtcp_link::mac::dcf::{Bss, BssConfig};
use airtcp_link::mac::edca::{Edca, EdcaConfig};
use airtcp_link::mac::medium::{AggregationView, Medium};
use airtcp_link::mac::ran::{Ran, RanConfig};
use airtcp_link::mac::selective_repeat::{SelectiveRepeatConfig, SelectiveRepeatLink};
use airtcp_link::{Admission, Stream};
use airtcp_units::{Duration, Instant};

use crate::alarm::Alarm;
use crate::hop::AirHop;
use crate::hosts::Hosts;
use crate::packet::Packet;
use crate::{Network, Turn};

/// The station number of the access point or the base station.
pub const ACCESS_POINT: u16 = frame::ACCESS_POINT as u16;

/// Declares the media, a row each: its configuration, and the state machine that it configures.
macro_rules! media {
    ($($(#[$doc:meta])* $Name:ident: $Config:ident => $Machine:ident;)+) => {
        /// A kind of medium.
        #[derive(Clone, Debug)]
        pub enum MediumKind {
            $($(#[$doc])* $Name(Box<$Config>),)+
        }

        #[derive(Clone, Debug)]
        enum AnyMedium<C> {
            $($Name(Box<$Machine<Packet<C>>>),)+
        }

        impl<C: Copy> AnyMedium<C> {
            /// The medium, idle, its channel drawn from `stream`.
            fn new(kind: &MediumKind, stream: Stream) -> Self {
                const CHECKED: &str = "what a scenario says of a medium is checked when it is read";
                match kind {
                    $(MediumKind::$Name(config) => {
                        Self::$Name(Box::new($Machine::new(config, stream).expect(CHECKED)))
                    })+
                }
            }
        }

        /// Does the same with whichever medium it is.
        macro_rules! each {
            ($of:expr, $medium:ident => $what:expr) => {
                match $of {
                    $(AnyMedium::$Name($medium) => $what,)+
                }
            };
        }
    };
}

media! {
    /// An IEEE 802.11 channel.
    Bss: BssConfig => Bss;
    /// An IEEE 802.11 channel on which frames are aggregated.
    Edca: EdcaConfig => Edca;
    /// A stop-and-wait link, from the access point to a mobile.
    Arq: ArqConfig => ArqLink;
    /// A selective-repeat link between an access point and a mobile.
    SelectiveRepeat: SelectiveRepeatConfig => SelectiveRepeatLink;
    /// The downlink of a cell of 1xEV-DO.
    Cell: CellConfig => Cell;
    /// A cell of LTE or NR.
    Ran: RanConfig => Ran;
}

/// A medium, and the agents it reports to.
#[derive(Clone, Debug)]
pub struct MediumConfig {
    /// The name of its random stream.
    pub name: String,
    /// Its kind.
    pub kind: MediumKind,
    /// Agents that are informed of every attempt to reach a mobile.
    pub reports_to: Vec<u16>,
    /// The agent that knows the urgency of packets to a mobile.
    pub informed_by: Option<u16>,
    /// Whether senders that use link feedback are informed of the link's retransmission timeout,
    /// where it is fixed.
    pub tells_retry_timeout: bool,
}

impl MediumConfig {
    /// A medium that reports to no agents.
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

/// A medium in the network.
#[derive(Clone, Debug)]
pub(crate) struct MediumNode<C> {
    medium: AnyMedium<C>,
    reports_to: Vec<u16>,
    informed_by: Option<u16>,
    /// The link's retransmission timeout, if senders are informed of it.
    told_retry_timeout: Option<Duration>,
    /// Whether the link reports when its sender receives an acknowledgment.
    tells_of_acknowledgments: bool,
    alarm: Alarm,
}

impl<C: Copy> MediumNode<C> {
    /// An idle medium.
    pub(crate) fn new(config: MediumConfig, seed: u64) -> Self {
        let medium = AnyMedium::new(&config.kind, Stream::new(seed, &config.name));
        let timeout = each!(&medium, medium => medium.retry_timeout());
        Self {
            told_retry_timeout: timeout.filter(|_| config.tells_retry_timeout),
            tells_of_acknowledgments: each!(&medium, medium => medium.tells_of_acknowledgments()),
            medium,
            reports_to: config.reports_to,
            informed_by: config.informed_by,
            alarm: Alarm::default(),
        }
    }

    /// Hands a packet to a station: returns whether it had room, and the medium's next wake-up.
    #[inline]
    fn push(
        &mut self,
        now: Instant,
        hop: AirHop,
        offer: Offer,
        packet: Packet<C>,
        observer: &mut impl ChannelObserver,
    ) -> (bool, Instant) {
        let way = (u32::from(hop.from), u32::from(hop.to));
        each!(&mut self.medium, medium => {
            let admitted = Medium::push(&mut **medium, now, way, offer, packet, observer);
            (admitted, medium.next_wakeup())
        })
    }

    #[inline]
    fn next_wakeup(&self) -> Instant {
        each!(&self.medium, medium => medium.next_wakeup())
    }

    #[inline]
    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        each!(&mut self.medium, medium => medium.on_wakeup(now, observer));
    }

    #[inline]
    fn poll(&mut self) -> Option<Outcome<Packet<C>>> {
        each!(&mut self.medium, medium => medium.poll())
    }

    /// Packets queued at a station; at a base station those for one mobile.
    pub(crate) fn queued_packets(&self, station: u16, mobile: u16) -> usize {
        let (station, mobile) = (u32::from(station), u32::from(mobile));
        each!(&self.medium, medium => Medium::queued_packets(&**medium, station, mobile))
    }

    /// Packets queued at a station for another attempt after `retransmitted` retransmissions.
    pub(crate) fn retries(&self, station: u16, retransmitted: usize) -> usize {
        let station = u32::from(station);
        each!(&self.medium, medium => Medium::retries(&**medium, station, retransmitted))
    }

    /// Aggregation state between two stations, on a medium that aggregates.
    pub(crate) fn aggregation(&self, from: u16, to: u16) -> Option<AggregationView> {
        let (from, to) = (u32::from(from), u32::from(to));
        each!(&self.medium, medium => Medium::aggregation(&**medium, from, to))
    }

    /// Signal-to-noise ratio between a station and the access point.
    pub(crate) fn snr_db(&self, station: u16, now: Instant) -> Option<f64> {
        each!(&self.medium, medium => Medium::snr_db(&**medium, u32::from(station), now))
    }

    /// The link's retransmission timeout, if senders are to be informed of it.
    pub(crate) const fn told_retry_timeout(&self) -> Option<Duration> {
        self.told_retry_timeout
    }
}

/// Passes a channel's events to the hosts.
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
    /// No host waits for a link's acknowledgments. Where media report them apart from deliveries,
    /// neither [`Hosts::acknowledged_by_link`] nor, of packets that were acknowledged,
    /// [`Hosts::left_station`] is called any more.
    pub fn mute_acknowledgments(&mut self) {
        for node in &mut self.media {
            each!(&mut node.medium, medium => medium.mute_acknowledgments());
        }
    }

    /// Schedules the first event of a medium, if it has one at the start.
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
        let (admitted, wanted) = node.push(now, hop, offer, *packet, &mut channel);
        node.alarm
            .arm(&mut self.queue, now, wanted, Turn::Medium(hop.medium));
        if !admitted {
            hosts.lost(self, packet, Admission::Overflow);
            hosts.left_station(self, packet);
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

    /// A medium's wake-up is due.
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
            while let Some(mut outcome) = self.media[usize::from(index)].poll() {
                self.on_outcome(index, &mut outcome, hosts);
            }
        }
        let node = &mut self.media[usize::from(index)];
        let wanted = node.next_wakeup();
        node.alarm.rearm(&mut self.queue, now, wanted);
    }

    /// Handles the outcome of a packet on the air, which continues from its entry hop.
    #[inline]
    fn on_outcome(
        &mut self,
        medium: u16,
        outcome: &mut Outcome<Packet<C>>,
        hosts: &mut impl Hosts<C, A>,
    ) {
        match outcome {
            Outcome::Delivered {
                packet,
                from,
                attempts,
                ..
            } => {
                hosts.crossed_air(packet, *attempts);
                self.report(medium, packet, *from, LinkEvent::Delivered, hosts);
                if !self.media[usize::from(medium)].tells_of_acknowledgments {
                    hosts.acknowledged_by_link(self.now, packet, *attempts);
                    hosts.left_station(self, packet);
                }
                packet.next += 1;
                self.forward(packet, hosts);
            }
            Outcome::Acknowledged {
                packet, attempts, ..
            } => {
                hosts.acknowledged_by_link(self.now, packet, *attempts);
                hosts.left_station(self, packet);
            }
            Outcome::Retried { packet, from, .. } => {
                self.report(medium, packet, *from, LinkEvent::AttemptFailed, hosts);
            }
            Outcome::Discarded {
                packet,
                from,
                attempts,
                arrived,
                ..
            } => {
                if *arrived {
                    return hosts.left_station(self, packet);
                }
                hosts.crossed_air(packet, *attempts);
                self.report(medium, packet, *from, LinkEvent::Discarded, hosts);
                hosts.lost(self, packet, Admission::Lost);
                hosts.left_station(self, packet);
            }
            Outcome::Dropped { packet } => {
                hosts.lost(self, packet, Admission::Overflow);
                hosts.left_station(self, packet);
            }
        }
    }

    /// Reports the fate of a packet to a mobile to the subscribed agents.
    #[inline(always)]
    fn report(
        &mut self,
        medium: u16,
        packet: &Packet<C>,
        from: u32,
        event: LinkEvent,
        hosts: &mut impl Hosts<C, A>,
    ) {
        if !self.media[usize::from(medium)].reports_to.is_empty() && from == u32::from(ACCESS_POINT)
        {
            self.report_to_all(medium, packet, event, hosts);
        }
    }

    fn report_to_all(
        &mut self,
        medium: u16,
        packet: &Packet<C>,
        event: LinkEvent,
        hosts: &mut impl Hosts<C, A>,
    ) {
        let listeners = self.media[usize::from(medium)].reports_to.len();
        let Some(&segment) = packet.segment() else {
            return;
        };
        for listener in 0..listeners {
            let agent = self.media[usize::from(medium)].reports_to[listener];
            self.tell_agent(agent, packet.flow, &segment, event, hosts);
        }
    }
}

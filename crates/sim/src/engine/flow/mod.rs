//! A flow: two endpoints and their application.

mod application;
mod opening;
mod proxy;

use std::sync::Arc;

use airtcp_link::Stream;
use airtcp_network::{Alarm, Host, Port};
use airtcp_packet::{LinkFeedback, SequenceNumber};
use airtcp_scenario::{Companion, FlowConfig};
use airtcp_tcp::config::LinkFeedbackConfig;
use airtcp_tcp::{Connection, Relay, Side, State};
use airtcp_units::{Duration, Instant};

use super::datagrams::{DatagramCounts, Exchange};
use super::latency::Latency;
use super::outage::Freeze;
use super::small_queue::SmallQueue;
use super::truth::{Truth, Verdicts};
use super::{Net, Turn};
use crate::traffic::{Transfers, VisitTimes};
use application::Application;
use opening::Opening;
use proxy::Proxy;

/// The fates of a flow's packets: saturating counters; no run has reached their limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Data packets for which a queue had no room.
    pub dropped_by_queue: u32,
    /// Data packets that a link lost.
    pub lost_by_link: u32,
    /// Data packets that arrived with a queue's congestion mark.
    pub marked: u32,
    /// Acknowledgments dropped or lost.
    pub acknowledgments_lost: u32,
    /// Packets of either direction that crossed a medium or were given up there.
    pub packets_on_air: u32,
    /// Their total number of transmissions.
    pub attempts_on_air: u32,
}

impl Tally {
    /// Records that a packet took `attempts` attempts on a medium, the last successful or not.
    #[inline]
    pub(super) fn on_air(&mut self, attempts: u32) {
        self.packets_on_air = self.packets_on_air.saturating_add(1);
        self.attempts_on_air = self.attempts_on_air.saturating_add(attempts);
    }

    /// Records that a data packet arrived with a queue's mark.
    #[inline]
    pub(super) fn on_marked(&mut self) {
        self.marked = self.marked.saturating_add(1);
    }
}

/// One end of a flow.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub connection: Connection,
    pub alarm: Alarm,
    /// The point at which its packets enter the network.
    pub port: Port,
}

impl End {
    fn new(connection: Connection, port: Port) -> Self {
        Self {
            connection,
            alarm: Alarm::default(),
            port,
        }
    }
}

/// Two endpoints, and facts about the path between them.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(super) client: End,
    pub(super) server: End,
    pub(super) client_iss: SequenceNumber,
    pub(super) start: Instant,
    /// Arrival of the transfer's last byte; [`Instant::FAR_FUTURE`] before.
    pub(super) completed: Instant,
    pub(super) tally: Tally,
    pub(super) truth: Truth,
    pub(super) latency: Latency,
    pub(super) application: Option<Box<Application>>,
    /// How its connection is opened; `None` if the client opens it without Fast Open.
    pub(super) opening: Option<Box<Opening>>,
    /// Datagrams in place of a TCP connection; the endpoints are then idle.
    pub(super) datagrams: Option<Box<Exchange>>,
    pub(super) proxy: Option<Box<Proxy>>,
    pub(super) freeze: Option<Box<Freeze>>,
    /// Bytes queued in its sender's device.
    pub(super) small_queue: Option<Box<SmallQueue>>,
    /// The kind of its measurement, unless it belongs to the load.
    under_load: Option<Companion>,
    /// Whether the sender uses reports of its link.
    pub(super) hears_link: bool,
    /// Coins of a sender that classifies losses, boxed as few do. The causes of its losses are kept
    /// as well.
    pub(super) coins: Option<Box<Stream>>,
}

impl Flow {
    pub(super) fn new(config: &FlowConfig, [there, back]: [Port; 2]) -> Self {
        let (client_iss, server_iss) = config.initial_sequence;
        let tcp = &config.tcp;
        if let Some(request) = config.request {
            return Self::requested(config, request, [there, back]);
        }
        let mut client = Connection::connect_sharing(Arc::clone(tcp), client_iss);
        match (&config.application, &config.datagrams, config.bytes) {
            (Some(_), ..) | (_, Some(_), _) => {}
            (None, None, Some(bytes)) => {
                client.write(bytes);
                client.close();
            }
            (None, None, None) => client.write(u64::MAX),
        }
        let server = Connection::listen_sharing(Arc::clone(tcp), server_iss);
        Self::between(config, End::new(client, there), End::new(server, back))
    }

    /// A flow whose server opens the connection with a request.
    fn requested(config: &FlowConfig, request: u64, [there, back]: [Port; 2]) -> Self {
        let (client_iss, server_iss) = config.initial_sequence;
        let client = Connection::listen_sharing(Arc::clone(&config.tcp), client_iss);
        let mut server = Connection::connect_sharing(Arc::clone(&config.tcp), server_iss);
        server.write(request);
        Self::between(config, End::new(client, there), End::new(server, back))
    }

    fn between(config: &FlowConfig, client: End, server: End) -> Self {
        let tcp = &config.tcp;
        Self {
            client,
            server,
            client_iss: config.initial_sequence.0,
            start: config.start,
            completed: Instant::FAR_FUTURE,
            tally: Tally::default(),
            truth: Truth::default(),
            latency: Latency::default(),
            application: config.application.map(|(traffic, stream)| {
                Box::new(Application::new(&traffic, config.start, stream))
            }),
            opening: Opening::new(config),
            datagrams: config
                .datagrams
                .map(|(datagrams, draws)| Box::new(Exchange::new(datagrams, config.start, draws))),
            proxy: config
                .proxy
                .as_ref()
                .map(|proxy| Box::new(Proxy::new(proxy, config.initial_sequence))),
            freeze: config.freeze.map(|freeze| Box::new(Freeze::new(freeze))),
            small_queue: SmallQueue::new(tcp),
            under_load: config.under_load,
            hears_link: tcp.link_feedback != LinkFeedbackConfig::default(),
            coins: (tcp.differentiation.is_some()).then(|| Box::new(config.coins)),
        }
    }

    /// Schedules the opening of flow number `index`.
    pub(super) fn arm_opening(&mut self, network: &mut Net, index: u32) {
        let by = self
            .opening
            .as_ref()
            .map_or(Host::Client, |opening| opening.by);
        match by {
            Host::Server => network.arm(&mut self.server.alarm, self.start, Turn::Server(index)),
            _ => network.arm(&mut self.client.alarm, self.start, Turn::Client(index)),
        }
    }

    /// Whether its endpoints use Fast Open.
    pub(super) fn opens_fast(&self) -> bool {
        let opening = self.opening.as_ref();
        opening.is_some_and(|opening| opening.tuples.is_some())
    }

    /// Whether its sender waits for its link's reports on packets.
    pub(super) const fn awaits_link(&self) -> bool {
        self.hears_link || self.small_queue.is_some()
    }

    /// Schedules the wake-ups of flow number `index` other than its opening, and informs its hosts
    /// of their links.
    pub(super) fn connect(&mut self, network: &mut Net, index: u32) {
        if self.hears_link
            && let Some(timeout) = network.told_retry_timeout(&self.client.port)
        {
            let feedback = LinkFeedback::RetryTimeout(timeout);
            let connection = &mut self.client.connection;
            connection.on_feedback(Instant::ZERO, &feedback, &mut ());
        }
        if !network.begins_on_air(&self.client.port) {
            self.small_queue = None;
        }
        if let Some(freeze) = &mut self.freeze {
            freeze.arm(network, index);
        }
        if let Some(application) = &mut self.application {
            network.arm(&mut application.alarm, self.start, Turn::Application(index));
        }
        if let Some(proxy) = &mut self.proxy {
            proxy.connect(network, [&self.server.port, &self.client.port]);
        }
    }

    /// The endpoint at the other end of the client's connection: the server, or a proxy's.
    pub(super) fn peer_of_client(&self) -> &Connection {
        match &self.proxy {
            Some(proxy) => proxy.relay.connection(Side::Client),
            None => self.server(),
        }
    }

    /// Index of the next packet to the client from the endpoint that acknowledges the client's
    /// data.
    pub(super) fn next_of_peer(&self) -> u64 {
        match &self.proxy {
            Some(proxy) => proxy.next_towards_client(),
            None => self.server.port.sent(),
        }
    }

    /// Its application's completed transfers; zero without an application.
    #[must_use]
    pub fn transfers(&self) -> Transfers {
        self.application
            .as_ref()
            .map_or_else(Transfers::default, |application| {
                application.session.transfers()
            })
    }

    /// The kind of its measurement; `None` for a flow of the load.
    #[must_use]
    pub const fn under_load(&self) -> Option<Companion> {
        self.under_load
    }

    /// Durations of the parts of its visit; `None` for any other application.
    #[must_use]
    pub fn visit(&self) -> Option<VisitTimes> {
        self.application.as_ref()?.session.visit()
    }

    /// The proxy on its path.
    #[must_use]
    pub fn proxy(&self) -> Option<&Relay> {
        self.proxy.as_deref().map(|proxy| &proxy.relay)
    }

    /// Why a control of one of its senders was stopped, if one was: of either end, or of a proxy.
    #[must_use]
    pub fn stopped_control(&self) -> Option<&str> {
        let relay = self.proxy();
        let sides = relay
            .into_iter()
            .flat_map(|relay| Side::ALL.map(|side| relay.connection(side)));
        [self.client(), self.server()]
            .into_iter()
            .chain(sides)
            .find_map(|connection| connection.sender().external()?.fault())
    }

    /// Notifies the controls of its senders that are not compiled in of the end of the run, which
    /// is that of their connections.
    pub(in crate::engine) fn release_controls(&mut self) {
        self.client.connection.release_control();
        self.server.connection.release_control();
        if let Some(proxy) = &mut self.proxy {
            proxy.relay.release_controls();
        }
    }

    /// The endpoint that sends the data.
    #[must_use]
    pub const fn client(&self) -> &Connection {
        &self.client.connection
    }

    /// The endpoint that receives it.
    #[must_use]
    pub const fn server(&self) -> &Connection {
        &self.server.connection
    }

    /// Whether the handshake was completed; false for anything but a TCP connection.
    #[must_use]
    pub fn is_opened(&self) -> bool {
        let client = self.client();
        match client.state() {
            State::Listen | State::SynSent | State::SynReceived => false,
            // An endpoint that opened a connection in order to send has sent.
            State::Closed => client.sender().counters().segments_sent > 0,
            _ => true,
        }
    }

    /// Time at which the client opened the connection.
    #[must_use]
    pub const fn start(&self) -> Instant {
        self.start
    }

    /// Arrival of the transfer's last byte.
    #[must_use]
    pub fn completed(&self) -> Option<Instant> {
        Some(self.completed).filter(|&at| at < Instant::FAR_FUTURE)
    }

    /// The fates of its packets.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The latency of its packets and bytes, independent of the sender's estimates.
    #[must_use]
    pub const fn latency(&self) -> &Latency {
        &self.latency
    }

    /// Number of timeouts that a longer timer would have avoided: an acknowledgment of the segment
    /// was in transit, or caused by a copy in transit.
    #[must_use]
    pub const fn spurious_timeouts(&self) -> u64 {
        self.truth.spurious()
    }

    /// Number of timeouts of segments that had arrived, with all acknowledgments lost.
    #[must_use]
    pub const fn unacknowledged_timeouts(&self) -> u64 {
        self.truth.unacknowledged()
    }

    /// Numbers of losses that the sender classified, in all and correctly.
    #[must_use]
    pub fn verdicts(&self) -> &Verdicts {
        self.truth.verdicts()
    }

    /// Bytes delivered to the receiving application: for a TCP connection in order, else the
    /// payload of datagrams. Pings deliver no data.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        match &self.datagrams {
            None => self.server.connection.receiver().received(),
            Some(exchange) => exchange.delivered(),
        }
    }

    /// Bytes that have arrived at the receiver, each counted once: bytes delivered, and bytes held
    /// after a gap that the sender has not given up. Zero for pings.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        // The application never gets the bytes after a gap of a connection that has ended.
        let is_open = [&self.client, &self.server]
            .iter()
            .all(|end| end.connection.state() != State::Closed);
        let waiting = if self.datagrams.is_none() && is_open {
            self.server.connection.receiver().received_behind_gaps()
        } else {
            0
        };
        self.delivered() + waiting
    }

    /// The fates of its datagrams; zero for a TCP connection.
    #[must_use]
    pub fn datagrams(&self) -> DatagramCounts {
        let exchange = self.datagrams.as_ref();
        exchange.map_or_else(DatagramCounts::default, |exchange| exchange.counts())
    }

    /// Interarrival jitter of its datagrams; `None` before the second arrival, and for a TCP
    /// connection.
    #[must_use]
    pub fn jitter(&self) -> Option<Duration> {
        self.datagrams.as_ref()?.jitter()
    }

    /// Whether it carries data and so competes with other flows: all but pings.
    #[must_use]
    pub fn carries_data(&self) -> bool {
        let exchange = self.datagrams.as_ref();
        exchange.is_none_or(|exchange| exchange.carries_data())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred thousand should fit in the memory of a small machine: 100 MB.
    #[test]
    fn a_flow_is_small() {
        assert!(size_of::<Flow>() <= 856, "{}", size_of::<Flow>());
    }
}

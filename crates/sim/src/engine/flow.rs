//! A flow: two endpoints, and what they have to say to each other.

use std::sync::Arc;

use airtcp_link::Stream;
use airtcp_packet::SequenceNumber;
use airtcp_tcp::config::LinkFeedbackConfig;
use airtcp_tcp::{Config, Connection, Relay, Side};
use airtcp_units::Instant;

use super::network::{Application, Freeze, FreezeConfig, Hop, Proxy, ProxyConfig};
use super::truth::{Truth, Verdicts};
use crate::traffic::{Traffic, Transfers};

/// What a flow is.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// Both endpoints: the one that opens the connection and sends the data, and the one that
    /// receives it. All flows share it.
    pub tcp: Arc<Config>,
    /// Coins for a sender that tosses them.
    pub coins: Stream,
    /// When the client opens the connection.
    pub start: Instant,
    /// How much it sends; `None` sends until the end of the run.
    pub bytes: Option<u64>,
    /// What its data meets on the way to the server, which is not named.
    pub forward: Vec<Hop>,
    /// What its acknowledgments meet on the way to the client, which is not named.
    pub reverse: Vec<Hop>,
    /// Initial sequence numbers of client and server.
    pub initial_sequence: (SequenceNumber, SequenceNumber),
    /// What it carries in place of `bytes`, and where its draws come from.
    pub application: Option<(Traffic, Stream)>,
    /// A proxy on the way, which stands in both routes as [`Hop::Proxy`].
    pub proxy: Option<Box<ProxyConfig>>,
    /// Outages of the receiver's link that it sees coming.
    pub freeze: Option<FreezeConfig>,
}

/// What happened to a flow's packets on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Data packets for which a queue had no room.
    pub dropped_by_queue: u64,
    /// Data packets that a link lost.
    pub lost_by_link: u64,
    /// Acknowledgments that were dropped or lost.
    pub acknowledgments_lost: u64,
    /// Packets of either direction that crossed a medium or were given up there.
    pub packets_on_air: u64,
    /// How often they were sent, all together.
    pub attempts_on_air: u64,
}

impl Tally {
    /// A packet was sent so many times on a medium, the last time with success or not.
    #[inline]
    pub(super) fn on_air(&mut self, attempts: u32) {
        self.packets_on_air += 1;
        self.attempts_on_air += u64::from(attempts);
    }
}

/// One end of a flow, and when the engine will look at its timers next.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub connection: Connection,
    /// Time of the pending timer event; [`Instant::FAR_FUTURE`] when there is none. It may be
    /// earlier than the connection now wants: then it is scheduled anew when it comes.
    pub timer: Instant,
    /// Packets handed to the first pipe so far.
    pub sent: u64,
    /// The first hop of what it sends, an index into the routes.
    pub route: u32,
}

impl Host {
    const fn new(connection: Connection, route: u32) -> Self {
        Self {
            connection,
            timer: Instant::FAR_FUTURE,
            sent: 0,
            route,
        }
    }
}

/// Two endpoints and what is known of the way between them.
#[derive(Clone, Debug)]
pub struct Flow {
    pub(super) client: Host,
    pub(super) server: Host,
    pub(super) client_iss: SequenceNumber,
    pub(super) start: Instant,
    pub(super) completed: Option<Instant>,
    pub(super) tally: Tally,
    pub(super) truth: Truth,
    pub(super) application: Option<Box<Application>>,
    pub(super) proxy: Option<Box<Proxy>>,
    pub(super) freeze: Option<Box<Freeze>>,
    /// The sender listens to its own link.
    pub(super) hears_link: bool,
    /// Coins of a sender that judges losses. What each loss was of is kept for it, too.
    pub(super) coins: Option<Stream>,
}

impl Flow {
    pub(super) fn new(config: &FlowConfig, there: u32, back: u32) -> Self {
        let (client_iss, server_iss) = config.initial_sequence;
        let tcp = &*config.tcp;
        let mut client = Connection::connect(tcp, client_iss);
        match (&config.application, config.bytes) {
            (Some(_), _) => {}
            (None, Some(bytes)) => {
                client.write(bytes);
                client.close();
            }
            (None, None) => client.write(u64::MAX),
        }
        Self {
            client: Host::new(client, there),
            server: Host::new(Connection::listen(tcp, server_iss), back),
            client_iss,
            start: config.start,
            completed: None,
            tally: Tally::default(),
            truth: Truth::default(),
            application: config.application.map(|(traffic, stream)| {
                Box::new(Application::new(&traffic, config.start, stream))
            }),
            proxy: config
                .proxy
                .as_ref()
                .map(|proxy| Box::new(Proxy::new(proxy, config.initial_sequence))),
            freeze: config.freeze.map(|freeze| Box::new(Freeze::new(freeze))),
            hears_link: tcp.link_feedback != LinkFeedbackConfig::default(),
            coins: tcp.differentiation.is_some().then_some(config.coins),
        }
    }

    /// The endpoint at the other end of the client's connection: the server, or a proxy's.
    pub(super) fn peer_of_client(&self) -> &Connection {
        match &self.proxy {
            Some(proxy) => proxy.relay.connection(Side::Client),
            None => self.server(),
        }
    }

    /// What its application has transferred; nothing where none runs.
    #[must_use]
    pub fn transfers(&self) -> Transfers {
        self.application
            .as_ref()
            .map_or_else(Transfers::default, |application| {
                application.session.transfers()
            })
    }

    /// The proxy on its way.
    #[must_use]
    pub fn proxy(&self) -> Option<&Relay> {
        self.proxy.as_deref().map(|proxy| &proxy.relay)
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

    /// When the client opened the connection.
    #[must_use]
    pub const fn start(&self) -> Instant {
        self.start
    }

    /// When the last byte of the transfer arrived.
    #[must_use]
    pub const fn completed(&self) -> Option<Instant> {
        self.completed
    }

    /// What happened to its packets on the way.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Timeouts that were unnecessary: a copy sent before had arrived, or did later.
    #[must_use]
    pub const fn spurious_timeouts(&self) -> u64 {
        self.truth.spurious()
    }

    /// How often the sender judged what a loss was of, and how well.
    #[must_use]
    pub const fn verdicts(&self) -> &Verdicts {
        self.truth.verdicts()
    }

    /// Bytes delivered in order to the receiving application.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.server.connection.receiver().received()
    }
}

//! The two endpoints of a flow, and the data they exchange.

use std::sync::Arc;

use airtcp_link::Stream;
use airtcp_network::Hop;
use airtcp_packet::SequenceNumber;
use airtcp_tcp::Config;
use airtcp_units::{Duration, Instant};

use crate::datagrams::Datagrams;
use crate::names::Companion;
use crate::traffic::Traffic;

/// A flow.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// Both endpoints: the client, which sends the data, and the server, which receives it. All
    /// flows share it.
    pub tcp: Arc<Config>,
    /// Random draws of a sender that needs them.
    pub coins: Stream,
    /// When the connection is opened.
    pub start: Instant,
    /// Bytes to send; `None` sends until the end of the run.
    pub bytes: Option<u64>,
    /// Bytes of the request with which the server opens the connection, and which the client
    /// answers by its data; `None` has the client open it.
    pub request: Option<u64>,
    /// Numbers of the client's and the server's host: connections between the same two share what
    /// the hosts know of each other.
    pub hosts: [u32; 2],
    /// Path of its data to the server, which is not named.
    pub forward: Vec<Hop>,
    /// Path of its acknowledgments to the client, which is not named.
    pub reverse: Vec<Hop>,
    /// Initial sequence numbers of client and server.
    pub initial_sequence: (SequenceNumber, SequenceNumber),
    /// Its traffic in place of `bytes`, and the stream of its draws.
    pub application: Option<(Traffic, Stream)>,
    /// Its datagrams in place of a TCP connection, and the stream of their draws; `tcp` is idle
    /// then.
    pub datagrams: Option<(Datagrams, Stream)>,
    /// The probe that this flow is; `None` for a flow of the load.
    pub under_load: Option<Companion>,
    /// A proxy on the path, which appears in both routes as
    /// [`Host::Proxy`](airtcp_network::Host::Proxy).
    pub proxy: Option<Box<ProxyConfig>>,
    /// Outages of the receiver's link that the receiver foresees.
    pub freeze: Option<FreezeConfig>,
}

/// A proxy.
#[derive(Clone, Debug)]
pub struct ProxyConfig {
    /// The endpoint towards the host that sends the data.
    pub client_side: Config,
    /// The endpoint towards the host that receives it.
    pub server_side: Config,
    /// Maximum number of bytes held for one side.
    pub buffer_bytes: u64,
}

/// When the receiver's link goes away, and how early the receiver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreezeConfig {
    /// From the start of one outage to the start of the next; the first comes after this time.
    pub every: Duration,
    /// Duration of an outage.
    pub length: Duration,
    /// Time before an outage at which the sender is frozen: about a round trip (Goff et al. §3.1).
    pub warning: Duration,
    /// The receiver foresees nothing, and repeats its last acknowledgment when the link is back.
    pub repeats_only: bool,
}

//! A running simulation: a network in virtual time, with endpoints at its hosts.
//!
//! ```text
//!   client, application ── network ── proxy ── network ── server, outages
//!             └───────────── truth, digest, watch ──────────┘
//! ```
//!
//! One thread runs one simulation. The hosts implement the network's [`Hosts`]: it notifies them of
//! arrivals and wake-ups, and they send into it at once. Their wake-ups are in the network's queue,
//! one entry per endpoint however often its timers are set.

mod cookies;
mod datagrams;
mod digest;
mod endpoints;
mod flow;
mod histogram;
mod insight;
mod latency;
mod losses;
mod outage;
mod simulation;
mod small_queue;
mod truth;
mod watch;

use airtcp_network::{Host, Hosts, Network};
use airtcp_units::Instant;

use cookies::Cookies;
pub use datagrams::{DatagramCounts, LATE};
pub use digest::Digest;
pub use flow::{Flow, Tally};
pub use histogram::{Histogram, One, Unit};
pub use latency::Latency;
pub use simulation::Simulation;
pub use watch::{Direction, FlowEvent, PingEvent, Watch};

/// A packet of the simulation. In addition to its headers it carries its departure from the sender,
/// and on the way back the departure of the data packet that it answers.
type Packet = airtcp_network::Packet<Instant>;
/// The network of the simulation.
type Net = Network<Instant, Turn>;

/// The reason for waking a host.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// The wake-up of a flow's application is due.
    Application(u32),
    /// The wake-up of a flow's proxy is due.
    Proxy(u32),
    /// An outage of the link to a flow's receiver is about to begin, or has ended.
    Outage(u32),
    /// The client of a flow opens its connection, or its timer expires.
    Client(u32),
    /// The timer of a server expires.
    Server(u32),
}

/// Everything at the hosts, and the run's observer.
struct Endpoints<'w, W> {
    flows: Vec<Flow>,
    /// `None` if no flow uses Fast Open.
    cookies: Option<Box<Cookies>>,
    digest: Digest,
    watch: &'w mut W,
}

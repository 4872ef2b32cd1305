//! The event engine: virtual time, and whose turn it is.
//!
//! ```text
//!            ┌──────── pipe ───────▶ ┌──────── pipe ───────▶
//!   client ──┘  queue, rate, delay   └──                     server
//!          ◀──────────────────────── acknowledgments ───────
//! ```
//!
//! One thread runs one simulation. Whatever is due next stands in an [`EventQueue`]: a pipe has
//! *one* entry there however many packets are in it, an endpoint *one* however often its timers
//! are set anew. In steady state nothing is allocated for a packet and nothing is dispatched
//! dynamically.
//!
//! Among events of one instant the order is that in which they were scheduled; a pipe or a timer
//! that is scheduled anew goes to the end of its instant.

mod digest;
mod event_queue;
mod flow;
mod insight;
mod network;
mod truth;
mod watch;

pub use digest::Digest;
pub use event_queue::EventQueue;
pub use flow::{Flow, FlowConfig, Tally};
pub use network::{
    ACCESS_POINT, AirHop, AirView, FreezeConfig, Hop, MediumConfig, MediumKind, Network,
    NetworkConfig, ProxyConfig,
};
pub use watch::{Direction, FlowEvent, Watch};

//! The gateway: an access point's remedies on a router's real packets, `airtcp gateway`.
//!
//! ```text
//!                      tap (headers, both ways) ──▶ meter, and the agents while they only look
//!                          │
//!   mobiles ── device ─────┴── the kernel forwards ── device ── wired network
//!                                   │      ▲
//!                  pure ACKs: queue │      │ verdicts
//!                                   ▼      │
//!                              agents, as simulated
//! ```
//!
//! The agents are those of `airtcp-link`, here in a real network. Whatever fails here, packets
//! pass: rules have a bypass, queues are fail-open, holds are bounded, a watchdog releases
//! everything, and a guard removes the rules of a process that is gone.

pub mod agents;
mod apply;
mod asks;
pub mod configuration;
pub mod counts;
mod course;
mod echo;
pub mod engine;
mod filter;
mod forecast;
pub mod guard;
pub mod hold_limit;
mod inferred;
mod inline;
mod look;
mod meter;
pub mod netlink;
mod notify;
mod option;
mod options;
mod queue;
mod repeater;
mod report;
mod rules;
mod sampling;
mod service;
pub mod sighting;
mod signals;
mod standing;
mod stations;
mod status;
mod succession;
mod tap;
mod under_way;
mod watchdog;

use options::Action;
pub use options::{Options, Serve};

use crate::error::Result;

/// The directory of the gateways' sockets.
pub(crate) const STATE: &str = "/run/airtcp";

/// Runs the command; returns the exit status.
///
/// # Errors
///
/// The configuration is wrong, or the system does not allow something needed.
pub fn run(options: &Options) -> Result<i32> {
    match &options.action {
        Some(Action::Status(status)) => status::run(status),
        None => service::run(&options.serve),
    }
}

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
//! The agents are those of `airtcp-link`, and this is one more world around them. Whatever fails
//! here, packets pass: rules have a bypass, queues are fail-open, a hold is bounded, a watchdog
//! lets everything go, and a guard removes the rules of a process that is gone.

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
mod stations;
mod status;
mod tap;
mod under_way;
mod watchdog;

use options::Action;
pub use options::{Options, Serve};

use crate::error::Result;

/// Where gateways have their sockets.
pub(crate) const STATE: &str = "/run/airtcp";

/// Runs what is asked for; returns the status to exit with.
///
/// # Errors
///
/// The configuration is wrong, or the system forbids what is needed.
pub fn run(options: &Options) -> Result<i32> {
    match &options.action {
        Some(Action::Status(status)) => status::run(status),
        None => service::run(&options.serve),
    }
}

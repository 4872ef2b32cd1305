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
//! The agents are `airtcp-link`'s, here in a real network. On any failure packets pass:
//! rules have a bypass, queues are fail-open, holds are bounded, a watchdog releases everything,
//! and a guard removes the rules of a process that is gone.
#![cfg(target_os = "linux")]

pub mod agents;
pub mod configuration;
mod control;
mod datapath;
mod meter;
mod observe;
mod options;
pub mod packets;
mod rules;
mod service;
pub mod sockets;
mod stations;

use airtcp_host::error::Result;

use crate::control::status;
use crate::options::Action;
pub use crate::options::{Options, Serve};
pub use crate::service::guard;

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

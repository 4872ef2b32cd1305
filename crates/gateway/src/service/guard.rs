//! The gateway's guard: when the gateway is gone without a message, or no longer reports, the guard
//! ends it and removes its rules; packets then bypass it.

use std::process::Stdio;

use airtcp_host::daemon::guard::{Guard, Sign, watch};
use airtcp_host::daemon::program;
use airtcp_host::error::{Error, Result};
use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::datapath::inline::open_bridge;
use crate::rules::Rules;

/// The hidden command with which the program starts itself as a guard.
pub const COMMAND: &str = "gateway-guard";

/// The state to be cleaned up when the gateway is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Cleanup {
    /// Rules that lead packets into a queue that nobody serves.
    Rules(Rules),
    /// Two devices between which nothing passes any more.
    Join(String, String),
}

/// The guard's arguments.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The gateway's process
    process: i32,
    /// Changes to put right, as JSON
    cleanup: String,
}

/// Starts a guard over this process.
///
/// # Errors
/// It cannot be started.
pub fn start(cleanup: &Cleanup) -> Result<Guard> {
    let cleanup = serde_json::to_string(cleanup).map_err(|error| Error::new(error.to_string()))?;
    let process = std::process::id().to_string();
    let arguments = [COMMAND, &process, &cleanup];
    Guard::start(&program::running()?, arguments, Stdio::inherit())
}

/// The guard's life.
///
/// # Errors
///
/// Its arguments are invalid.
pub fn run(options: &Options) -> Result<i32> {
    let cleanup: Cleanup = serde_json::from_str(&options.cleanup).map_err(|error| {
        Error::new(format!(
            "the guard is started by the gateway alone: {error}"
        ))
    })?;
    if !watch(Sign::Silence)? {
        if let Some(process) = Pid::from_raw(options.process) {
            // It is gone, or it hangs.
            let _ = kill_process(process, Signal::KILL);
        }
        match cleanup {
            // A successor's rules lead elsewhere.
            Cleanup::Rules(rules) if rules.are_installed() => rules.remove(),
            Cleanup::Rules(_) => {}
            Cleanup::Join(one, other) => open_bridge(&one, &other)?,
        }
    }
    Ok(0)
}

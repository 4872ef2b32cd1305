//! The privileges that a gateway keeps: for itself and for its successor.

use std::fs;
use std::path::Path;

use airtcp_host::error::{Result, Tried};
use airtcp_host::privileges::{Calls, CapabilitySet, Needs, folder_of, keep_only};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::configuration::Settings;
use crate::options::Serve;

/// Drops all privileges not needed for the packets or the rules.
///
/// # Errors
///
/// The kernel refuses.
pub fn keep_only_what_is_needed(options: &Serve, settings: &Settings) -> Result<()> {
    // SCHED_FIFO for a successor, which lacks CAP_SYS_NICE.
    let lowest = Rlimit {
        current: Some(1),
        maximum: Some(1),
    };
    let _ = setrlimit(Resource::Rtprio, lowest);
    let state = &options.state;
    fs::create_dir_all(state).tried(|| format!("cannot make {}", state.display()))?;
    let written = [options.report.as_deref(), settings.file.as_deref()];
    let written = written.into_iter().flatten().map(folder_of);
    let usual = [state.as_path(), Path::new("/dev/null")];
    let writes: Vec<&Path> = usual.into_iter().chain(written).collect();
    keep_only(&Needs {
        capabilities: CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW,
        calls: Calls::Programs,
        writes: &writes,
        reads: None,
    })
}

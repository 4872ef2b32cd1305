//! The privileges that a proxy keeps once it is set up.

use std::path::Path;

use airtcp_host::error::Result;
use airtcp_host::privileges::{Calls, CapabilitySet, Needs, folder_of, keep_only};

use crate::options::Options;

/// Drops all privileges not needed for connections or the end of a diversion.
///
/// # Errors
///
/// The kernel refuses.
pub fn keep_only_what_is_needed(options: &Options) -> Result<()> {
    let mut capabilities = CapabilitySet::empty();
    if options.mobile_stack.is_some() {
        // For a congestion control restricted to privileged users (tcp_set_congestion_control).
        capabilities |= CapabilitySet::NET_ADMIN;
    }
    if options.transparent {
        // To bind foreign addresses, from any port (ip(7), IP_TRANSPARENT), and to remove the
        // rules.
        capabilities |=
            CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW | CapabilitySet::NET_BIND_SERVICE;
    }
    let sessions = options.sessions.as_deref().map(folder_of);
    let usual = [options.places.state.as_path(), Path::new("/dev/null")];
    let writes: Vec<&Path> = usual.into_iter().chain(sessions).collect();
    keep_only(&Needs {
        capabilities,
        // ip(8) ends a diversion.
        calls: if options.transparent {
            Calls::Programs
        } else {
            Calls::Traffic
        },
        writes: &writes,
        reads: None,
    })
}

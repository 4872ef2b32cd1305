//! Capabilities (capabilities(7)) of the calling thread.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, configure_capability_in_ambient_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::error::{Error, Result, Tried};

/// Drops all other capabilities.
///
/// # Errors
///
/// The kernel refuses.
pub fn keep_only(kept: CapabilitySet) -> Result<()> {
    let failed = || "cannot give up capabilities".to_owned();
    let had = capabilities(None).tried(failed)?;
    // The bounding set limits the capabilities of programs started later, root's too. Lowering it
    // requires CAP_SETPCAP: a process without it was limited by its parent.
    if had.effective.contains(CapabilitySet::SETPCAP) {
        for number in 0..64 {
            let one = CapabilitySet::from_bits_retain(1 << number);
            match capability_is_in_bounding_set(one) {
                // Past the last capability of this kernel.
                Err(Errno::INVAL) => break,
                Ok(true) if !kept.contains(one) => {
                    remove_capability_from_bounding_set(one).tried(failed)?;
                }
                Ok(_) => {}
                Err(cause) => return Err(Error::system(failed(), cause)),
            }
        }
    }
    let keeps = had.permitted & kept;
    let is_root = rustix::process::geteuid().is_root();
    // Programs started by root get capabilities from the bounding set, others from the ambient set.
    let inherited = if is_root {
        CapabilitySet::empty()
    } else {
        keeps
    };
    clear_ambient_capability_set().tried(failed)?;
    set_capabilities(
        None,
        CapabilitySets {
            effective: keeps,
            permitted: keeps,
            inheritable: inherited,
        },
    )
    .tried(failed)?;
    for one in inherited.iter() {
        configure_capability_in_ambient_set(one, true).tried(failed)?;
    }
    Ok(())
}

//! Capabilities (capabilities(7)) of the calling thread.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, configure_capability_in_ambient_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::error::{Error, Result, Tried};

/// Gives up all others.
///
/// # Errors
///
/// The kernel refuses.
pub fn keep_only(kept: CapabilitySet) -> Result<()> {
    let failed = || "cannot give up capabilities".to_owned();
    let had = capabilities(None).tried(failed)?;
    // The bounding set limits what programs started later get, root's too. Only CAP_SETPCAP may
    // lower it: a process that lacks it was limited by whoever started it.
    if had.effective.contains(CapabilitySet::SETPCAP) {
        for number in 0..64 {
            let one = CapabilitySet::from_bits_retain(1 << number);
            match capability_is_in_bounding_set(one) {
                // Past the last one that this kernel has.
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
    // Programs started by root get theirs from the bounding set, those of others from the ambient.
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

//! The permitted system calls (Documentation/userspace-api/seccomp_filter.rst).
//!
//! A call that is not on the list fails as on a kernel without it (ENOSYS), so that C libraries
//! fall back to an older one. A part that needs another call adds it to one of the groups; a test
//! compares the list with calls that are never allowed.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod list;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use crate::error::{Error, Result};

/// The system calls of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Packets, sockets, files, memory and time.
    Traffic,
    /// These, and the calls to start programs and threads, and to restrict these further.
    Programs,
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Calls {
    /// No numbers are known for this processor.
    fn numbers(self) -> impl Iterator<Item = libc::c_long> {
        std::iter::empty()
    }

    /// Nor names.
    pub fn names(self) -> Vec<&'static str> {
        Vec::new()
    }
}

/// Restricts this thread and its later children to these calls. Does nothing on a processor
/// with unknown call numbers, and on a kernel without seccomp.
///
/// # Errors
///
/// The kernel has seccomp and refuses.
pub fn restrict(calls: Calls) -> Result<()> {
    let Ok(processor) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(());
    };
    let failed = |cause| Error::new(format!("cannot limit system calls: {cause}"));
    let program = program(processor, calls).map_err(failed)?;
    match apply_filter(&program) {
        // A kernel without CONFIG_SECCOMP_FILTER.
        Err(seccompiler::Error::Seccomp(cause)) if cause.raw_os_error() == Some(libc::EINVAL) => {
            Ok(())
        }
        other => other.map_err(failed),
    }
}

/// The filter: the kernel caches calls that it always allows, so that their order does not matter.
fn program(processor: TargetArch, calls: Calls) -> seccompiler::Result<BpfProgram> {
    let allowed = calls.numbers().map(|number| (number, Vec::new()));
    let missing = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let filter = SeccompFilter::new(allowed.collect(), missing, SeccompAction::Allow, processor);
    Ok(filter?.try_into()?)
}

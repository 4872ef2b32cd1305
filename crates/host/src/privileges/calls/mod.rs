//! The permitted system calls (Documentation/userspace-api/seccomp_filter.rst).
//!
//! A call that is not on the list fails as on a kernel without it (ENOSYS), so that C libraries
//! fall back to an older one. A part that needs another call adds it to one of the groups; a test
//! compares the list with calls that are never allowed.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod list;

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};

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
    /// No numbers are known for this processor; see [`ARCHITECTURE`].
    fn numbers(self) -> impl Iterator<Item = libc::c_long> {
        std::iter::empty()
    }

    /// Nor names.
    pub fn names(self) -> Vec<&'static str> {
        Vec::new()
    }
}

/// AUDIT_ARCH_* of include/uapi/linux/audit.h: call numbers are meaningless without it.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};
/// Places in struct seccomp_data.
const NUMBER: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

/// Restricts this process to these calls. Does nothing on a processor with unknown call numbers,
/// and on a kernel without seccomp.
///
/// # Errors
///
/// The kernel has seccomp and refuses.
pub fn restrict(calls: Calls) -> Result<()> {
    let Some(architecture) = ARCHITECTURE else {
        return Ok(());
    };
    let mut filter = program(architecture, calls);
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).unwrap_or(u16::MAX),
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the kernel copies the program, which lives until then.
    #[expect(unsafe_code, reason = "no library of ours wraps seccomp")]
    let set = unsafe {
        let program = &raw const program;
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::c_ulong::from(libc::SECCOMP_MODE_FILTER),
            program,
            0 as libc::c_ulong,
            0 as libc::c_ulong,
        )
    };
    match set {
        0 => Ok(()),
        _ => match std::io::Error::last_os_error() {
            // A kernel without CONFIG_SECCOMP_FILTER.
            cause if cause.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            cause => Err(Error::system("cannot limit system calls", cause)),
        },
    }
}

/// The filter: the kernel caches calls that it always allows, so that their order does not matter.
fn program(architecture: u32, calls: Calls) -> Vec<sock_filter> {
    let load = |at| step(BPF_LD | BPF_W | BPF_ABS, at, 0);
    let answer = |with| step(BPF_RET | BPF_K, with, 0);
    // Skips the next step unless the loaded value is this one.
    let is = |value| step(BPF_JMP | BPF_JEQ | BPF_K, value, 1);
    let mut filter = vec![
        load(ARCHITECTURE_AT),
        sock_filter {
            jt: 1,
            ..step(BPF_JMP | BPF_JEQ | BPF_K, architecture, 0)
        },
        answer(libc::SECCOMP_RET_KILL_PROCESS),
        load(NUMBER),
    ];
    for number in calls.numbers() {
        filter.push(is(number as u32));
        filter.push(answer(libc::SECCOMP_RET_ALLOW));
    }
    filter.push(answer(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32));
    filter
}

/// A step of the filter; `otherwise` steps are skipped if it compares and the values differ.
const fn step(code: u32, value: u32, otherwise: u8) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt: 0,
        jf: otherwise,
        k: value,
    }
}

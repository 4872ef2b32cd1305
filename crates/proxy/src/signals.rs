//! The signals to the proxy, as a descriptor in the event queue.

use std::mem::{MaybeUninit, size_of};
use std::os::fd::{FromRawFd, OwnedFd};

use airtcp_host::error::{Error, Result};

/// The command of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// End: SIGINT, SIGTERM or SIGHUP.
    End,
    /// Start a successor: SIGUSR2.
    Successor,
}

/// Makes SIGINT, SIGTERM, SIGHUP and SIGUSR2 readable from a descriptor, in this thread and those
/// that it starts.
///
/// # Errors
///
/// The system has no descriptors left.
pub fn listened() -> Result<OwnedFd> {
    let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset makes `signals` a set before anything reads it; the descriptor is new,
    // and not shared with other threads.
    #[expect(unsafe_code, reason = "no library of ours wraps signalfd")]
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR2] {
            libc::sigaddset(signals.as_mut_ptr(), signal);
        }
        let before = std::ptr::null_mut();
        let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), before);
        let descriptor =
            libc::signalfd(-1, signals.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if blocked == 0 && descriptor >= 0 {
            return Ok(OwnedFd::from_raw_fd(descriptor));
        }
    }
    Err(Error::system(
        "cannot wait for signals",
        std::io::Error::last_os_error(),
    ))
}

/// Reads an arrived signal, so that the descriptor waits for the next.
pub fn take(descriptor: &OwnedFd) -> Option<Command> {
    let mut read = [0; size_of::<libc::signalfd_siginfo>()];
    rustix::io::read(descriptor, &mut read).ok()?;
    // The number is the first member of struct signalfd_siginfo.
    let number = u32::from_ne_bytes(*read.first_chunk()?);
    Some(if number == libc::SIGUSR2.cast_unsigned() {
        Command::Successor
    } else {
        Command::End
    })
}

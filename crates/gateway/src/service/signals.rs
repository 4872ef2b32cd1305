//! Signals as a descriptor, to wait for together with packets.

use std::os::fd::{AsFd, BorrowedFd};

use airtcp_host::error::{Error, Result};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// The command of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// End.
    End,
    /// Reload the configuration.
    Reload,
    /// Start a successor.
    Renew,
}

/// Signals that wait here instead of killing the process.
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// Takes over the signals. Call it before other threads are started.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn take() -> Result<Self> {
        let mut wanted = SigSet::empty();
        for signal in [
            Signal::SIGTERM,
            Signal::SIGINT,
            Signal::SIGHUP,
            Signal::SIGUSR2,
        ] {
            wanted.add(signal);
        }
        let failed = |cause: nix::Error| {
            Error::system("cannot wait for signals", std::io::Error::from(cause))
        };
        wanted.thread_block().map_err(failed)?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        SignalFd::with_flags(&wanted, flags)
            .map(Self)
            .map_err(failed)
    }

    /// The next request, if any.
    pub fn next(&self) -> Option<Command> {
        let signal = self.0.read_signal().ok()??;
        let number = i32::try_from(signal.ssi_signo).ok()?;
        Some(match Signal::try_from(number).ok()? {
            Signal::SIGHUP => Command::Reload,
            Signal::SIGUSR2 => Command::Renew,
            _ => Command::End,
        })
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

//! An interrupt, or a request to end, as a descriptor for polling.

use std::os::fd::{AsFd, BorrowedFd};

use airtcp_host::error::{Result, Tried};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// SIGINT and SIGTERM, which no longer end threads of this process.
#[derive(Debug)]
pub(super) struct Interrupts(SignalFd);

impl Interrupts {
    /// Takes over the signals. Call it before any other thread is started.
    pub fn new() -> Result<Self> {
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGINT);
        signals.add(Signal::SIGTERM);
        signals
            .thread_block()
            .tried(|| "cannot block signals".to_owned())?;
        SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
            .map(Self)
            .tried(|| "cannot wait for signals".to_owned())
    }

    /// Whether one arrived.
    pub fn came(&self) -> bool {
        matches!(self.0.read_signal(), Ok(Some(_)))
    }
}

impl AsFd for Interrupts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

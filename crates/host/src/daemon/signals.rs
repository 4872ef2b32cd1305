//! Signals as a descriptor, to wait for together with packets (signalfd(2)).

use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal as Blocked};
use nix::sys::signalfd::{SfdFlags, SignalFd};
pub use rustix::process::Signal;

use crate::error::{Result, Tried};

/// Signals that wait here instead of killing the process.
#[derive(Debug)]
pub struct Signals(SignalFd);

impl Signals {
    /// Takes over these signals, in this thread and its later children. Call it before other
    /// threads are started.
    ///
    /// # Errors
    ///
    /// The system has no descriptors left.
    pub fn take(wanted: &[Signal]) -> Result<Self> {
        let failed = || "cannot wait for signals".to_owned();
        let mut set = SigSet::empty();
        for signal in wanted {
            set.add(Blocked::try_from(signal.as_raw()).tried(failed)?);
        }
        set.thread_block().tried(failed)?;
        SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
            .map(Self)
            .tried(failed)
    }

    /// The next signal that has arrived, if any.
    pub fn next(&self) -> Option<Signal> {
        let signal = self.0.read_signal().ok()??;
        Signal::from_named_raw(i32::try_from(signal.ssi_signo).ok()?)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signal to this thread is read once, and does not end the process.
    #[test]
    fn a_signal_is_read_once() {
        std::thread::spawn(|| {
            let signals = Signals::take(&[Signal::USR2, Signal::HUP]).unwrap();
            assert_eq!(signals.next(), None);
            nix::sys::signal::raise(Blocked::SIGUSR2).unwrap();
            assert_eq!(signals.next(), Some(Signal::USR2));
            assert_eq!(signals.next(), None);
        })
        .join()
        .unwrap();
    }
}

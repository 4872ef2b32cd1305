//! Signals as a descriptor, to wait for together with packets (signalfd(2)).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

pub use rustix::process::Signal;

use crate::error::{Result, Tried};

/// Signals that wait here instead of killing the process.
#[derive(Debug)]
pub struct Signals(OwnedFd);

impl Signals {
    /// Takes over these signals, in this thread and its later children. Call it before other
    /// threads are started.
    ///
    /// # Errors
    ///
    /// The system has no descriptors left.
    pub fn take(wanted: &[Signal]) -> Result<Self> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the first call initialises the set, the others read and change it alone; a
        // descriptor above zero is new, and nobody else's.
        #[expect(
            unsafe_code,
            reason = "rustix has neither masks of signals nor signalfd"
        )]
        let made = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in wanted {
                libc::sigaddset(set.as_mut_ptr(), signal.as_raw());
            }
            let set = set.assume_init();
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            match libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) {
                -1 => Err(io::Error::last_os_error()),
                descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
            }
        };
        made.map(Self)
            .tried(|| "cannot wait for signals".to_owned())
    }

    /// The next signal that has arrived, if any.
    pub fn next(&self) -> Option<Signal> {
        // It starts with the signal's number (signalfd(2), struct signalfd_siginfo).
        let mut words = [0; size_of::<libc::signalfd_siginfo>()];
        rustix::io::read(&self.0, &mut words).ok()?;
        let number = words.first_chunk().map(|word| u32::from_ne_bytes(*word))?;
        Signal::from_named_raw(i32::try_from(number).ok()?)
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
            // SAFETY: it blocks this signal.
            #[expect(unsafe_code, reason = "rustix sends no signal to a thread")]
            unsafe {
                assert_eq!(libc::raise(libc::SIGUSR2), 0);
            }
            assert_eq!(signals.next(), Some(Signal::USR2));
            assert_eq!(signals.next(), None);
        })
        .join()
        .unwrap();
    }
}

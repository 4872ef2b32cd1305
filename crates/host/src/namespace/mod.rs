//! Network namespaces without names: each lives as long as it is held.
//!
//! Nothing is written under `/run/netns`, so that a killed process leaves nothing: with its last
//! descriptor and its last process the kernel removes a namespace, with all its devices, routes and
//! settings.

mod cookie;
pub mod user;

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use crate::error::{Error, Result, Tried};
pub use cookie::cookie;

/// A network namespace held by this process.
#[derive(Debug)]
pub struct Namespace(OwnedFd);

impl Namespace {
    /// The calling thread's namespace.
    ///
    /// # Errors
    ///
    /// `/proc` is not mounted.
    pub fn current() -> Result<Self> {
        rustix::fs::open(
            "/proc/thread-self/ns/net",
            OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .map(Self)
        .tried(|| "cannot open the network namespace of this thread".to_owned())
    }

    /// Creates a namespace with its loopback device up and nothing else in it.
    ///
    /// # Errors
    ///
    /// The system does not allow it; names the responsible setting.
    pub fn new() -> Result<Self> {
        in_thread(|| {
            leave(UnshareFlags::NEWNET)
                .map_err(|cause| user::forbidden("cannot make a network namespace", cause))?;
            crate::interface::bring_up("lo")?;
            Self::current()
        })
    }

    /// A path by which other programs can enter it, while this process holds it.
    pub fn path(&self) -> String {
        let process = rustix::process::getpid();
        format!(
            "/proc/{}/fd/{}",
            process.as_raw_nonzero(),
            self.0.as_raw_fd()
        )
    }

    /// Runs `work` in this namespace, in a separate thread: the caller's thread does not move.
    /// Sockets and devices that `work` opens stay in this namespace, and so do processes that it
    /// starts.
    ///
    /// # Errors
    ///
    /// Errors of `work`, or that the namespace cannot be entered.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        in_thread(|| {
            move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))
                .tried(|| "cannot enter the network namespace".to_owned())?;
            work()
        })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Unshares any resource except descriptors between the calling thread and the rest of the process.
///
/// # Errors
///
/// The system does not allow it, or it is the table of descriptors.
pub fn leave(what: UnshareFlags) -> rustix::io::Result<()> {
    if what.contains(UnshareFlags::FILES) {
        return Err(rustix::io::Errno::INVAL);
    }
    // SAFETY: the table of descriptors stays shared; Rust's runtime structures do not depend on
    // anything else of a namespace.
    #[expect(
        unsafe_code,
        reason = "unshare may take the descriptors apart, these flags do not"
    )]
    unsafe {
        rustix::thread::unshare_unsafe(what)
    }
}

/// Runs `work` in a temporary thread, so that its namespaces are not inherited by accident.
fn in_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        scope
            .spawn(work)
            .join()
            .unwrap_or_else(|_| Err(Error::new("a thread of airtcp-net has panicked")))
    })
}

#[cfg(test)]
mod tests;

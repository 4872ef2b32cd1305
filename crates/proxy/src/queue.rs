//! The event queue of a loop, and its listeners.

use std::os::fd::{AsFd, OwnedFd};

use airtcp_host::error::{Result, Tried};
use rustix::event::epoll::{self, EventData, EventFlags};

/// Creates a queue without descriptors.
///
/// # Errors
///
/// The system refuses one.
pub fn new() -> Result<OwnedFd> {
    epoll::create(epoll::CreateFlags::CLOEXEC).tried(|| "cannot make an event queue".to_owned())
}

/// Makes the queue report `token` when there is something to read.
///
/// # Errors
///
/// The system refuses it.
pub fn watch(queue: &OwnedFd, source: &impl AsFd, token: u64) -> Result<()> {
    epoll::add(queue, source, EventData::new_u64(token), EventFlags::IN)
        .tried(|| "cannot watch a descriptor".to_owned())
}

/// Makes the queue report new clients, or leaves them in the listeners' backlog. `first` is the
/// first listener's token.
pub fn set_accepting(queue: &OwnedFd, listeners: &[OwnedFd], first: u64, accepting: bool) {
    let flags = if accepting {
        EventFlags::IN
    } else {
        EventFlags::empty()
    };
    for (listener, token) in listeners.iter().zip(first..) {
        let _ = epoll::modify(queue, listener, EventData::new_u64(token), flags);
    }
}

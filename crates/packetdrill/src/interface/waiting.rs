//! poll and epoll.

use std::ffi::{c_int, c_short, c_ulong};
use std::slice;

use airtcp_script::posix::{Errno, Outcome, Sockets};
use libc::{epoll_event, pollfd};

use super::User;
use crate::machine::machine;
use crate::memory::{HeldPointer, descriptor, nothing, said_int};

pub(super) extern "C" fn poll(_: User, all: *mut pollfd, count: c_ulong, timeout: c_int) -> c_int {
    let all = HeldPointer(all);
    let until = machine().deadline(timeout);
    said_int(machine().wait_until(until, move |world| {
        if all.get().is_null() {
            return Outcome::Ready(Err(Errno::EFAULT));
        }
        // SAFETY: packetdrill hands in `count` of them.
        let all = unsafe { slice::from_raw_parts_mut(all.get(), count as usize) };
        let mut found = 0;
        for one in all {
            let wanted = one.events | libc::POLLERR | libc::POLLHUP;
            one.revents = world.sockets.events(one.fd) as c_short & wanted;
            found += isize::from(one.revents != 0);
        }
        answer_of(found)
    }))
}

pub(super) extern "C" fn epoll_create(_: User, size: c_int) -> c_int {
    if size <= 0 {
        return said_int(Err(Errno::EINVAL));
    }
    said_int(descriptor(machine().call(Sockets::make_epoll)))
}

pub(super) extern "C" fn epoll_ctl(
    _: User,
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    let wanted = if event.is_null() {
        None
    } else {
        // SAFETY: packetdrill hands in an event.
        let event = unsafe { event.read_unaligned() };
        Some((event.events, event.u64))
    };
    said_int(nothing(
        machine().call(|sockets| sockets.watch(epoll, operation, fd, wanted)),
    ))
}

pub(super) extern "C" fn epoll_wait(
    _: User,
    epoll: c_int,
    into: *mut epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    let into = HeldPointer(into);
    let most = usize::try_from(most).unwrap_or(0);
    let until = machine().deadline(timeout);
    said_int(machine().wait_until(until, move |world| {
        let found = match world.sockets.news(epoll, most) {
            Ok(found) => found,
            Err(error) => return Outcome::Ready(Err(error)),
        };
        for (index, (events, data)) in found.iter().enumerate() {
            let event = epoll_event {
                events: *events,
                u64: *data,
            };
            // SAFETY: packetdrill hands in room for `most` events.
            unsafe { into.get().add(index).write_unaligned(event) };
        }
        answer_of(found.len() as isize)
    }))
}

/// The result of a look at events: without events there is no result yet.
const fn answer_of(found: isize) -> Outcome<isize> {
    if found > 0 {
        Outcome::Ready(Ok(found))
    } else {
        Outcome::Pending
    }
}

//! Reads: their bytes are counted and dropped.

use super::made::Made;
use super::stack::Stack;
use crate::posix::constants::FIONREAD;
use crate::posix::{Descriptor, Outcome, Sockets};

/// A read of at most `most` bytes.
pub(super) fn read(one: Descriptor, most: i64, flags: i32) -> Made {
    Made::waiting(move |sockets| {
        let read = read_once(sockets, one, most, flags);
        read.map_ok(|count| counted(count).into())
    })
}

/// One attempt of a read, into no more memory than there is data for.
pub(super) fn read_once(
    sockets: &mut Sockets<Stack>,
    one: Descriptor,
    most: i64,
    flags: i32,
) -> Outcome<usize> {
    let waiting = sockets.queue(one, FIONREAD).unwrap_or(0).max(1);
    let room = usize::try_from(most.min(waiting.into())).unwrap_or(0);
    sockets.read(one, &mut vec![0; room], flags)
}

/// A call's result for a number of bytes.
pub(super) fn counted(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

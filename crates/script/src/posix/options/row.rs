//! A row of the table of socket options.

use super::super::errno::Errno;
use super::super::table::{Descriptor, Sockets};

/// Sets an option to bytes.
type SetBytes<S> = fn(&mut Sockets<S>, Descriptor, &[u8]) -> Result<(), Errno>;

/// How an option is set.
pub enum Set<S> {
    /// To an integer.
    Number(fn(&mut Sockets<S>, Descriptor, i32) -> Result<(), Errno>),
    /// To a C value of at least this many bytes.
    Bytes(usize, SetBytes<S>),
    /// It has no effect on the wire here.
    Ignored,
    Never,
}

/// How an option is read.
pub enum Get<S> {
    Number(fn(&mut Sockets<S>, Descriptor) -> Result<i32, Errno>),
    Bytes(fn(&mut Sockets<S>, Descriptor) -> Result<Vec<u8>, Errno>),
    Never,
}

/// Level, number, name, and the two ways of access.
pub struct Row<S>(pub i32, pub i32, pub &'static str, pub Set<S>, pub Get<S>);

impl<S> Row<S> {
    pub const fn ignored(level: i32, number: i32, name: &'static str) -> Self {
        Self(level, number, name, Set::Ignored, Get::Never)
    }

    pub const fn read_only(level: i32, number: i32, name: &'static str, get: Get<S>) -> Self {
        Self(level, number, name, Set::Never, get)
    }

    /// The least length of a value that is set, in bytes.
    pub const fn least(&self) -> usize {
        match self.3 {
            Set::Number(_) => size_of::<i32>(),
            Set::Bytes(least, _) => least,
            Set::Ignored | Set::Never => 0,
        }
    }
}

/// An `int`; zero if the buffer is too short for one.
pub fn number(value: &[u8]) -> i32 {
    value
        .first_chunk()
        .map_or(0, |bytes| i32::from_ne_bytes(*bytes))
}

pub fn int(value: usize) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

//! A call as the script makes it: its arguments, its attempts and its results.

use std::collections::BTreeMap;

use airtcp_units::Instant;

use super::stack::Stack;
use super::stop::{Stop, unsupported};
use crate::parser::number;
use crate::posix::constants::value;
use crate::posix::{Descriptor, Errno, Outcome, Sockets};
use crate::syntax::Call;

/// A descriptor that no socket has.
const NONE: Descriptor = -1;

/// The result of a call.
#[derive(Debug)]
pub(super) struct Returned {
    pub value: i64,
    /// The first value that it wrote and that is not as scripted.
    pub difference: Option<Difference>,
}

/// A value that a call wrote into memory, and the scripted one.
#[derive(Debug)]
pub(super) struct Difference {
    pub what: String,
    pub expected: String,
    pub found: String,
}

impl From<i64> for Returned {
    fn from(value: i64) -> Self {
        Self {
            value,
            difference: None,
        }
    }
}

/// A call on the sockets, repeated until it returns.
type Attempt = Box<dyn FnMut(&mut Sockets<Stack>) -> Outcome<Returned>>;

/// A call as it is made.
pub(super) struct Made {
    pub attempt: Attempt,
    /// When it has to be repeated even if nothing happens.
    pub alarm: Instant,
}

impl Made {
    /// A call that may have to wait.
    pub fn waiting(
        attempt: impl FnMut(&mut Sockets<Stack>) -> Outcome<Returned> + 'static,
    ) -> Self {
        Self {
            attempt: Box::new(attempt),
            alarm: Instant::FAR_FUTURE,
        }
    }

    /// A call that returns immediately.
    pub fn at_once<T: Into<Returned>>(
        mut act: impl FnMut(&mut Sockets<Stack>) -> Result<T, Errno> + 'static,
    ) -> Self {
        Self::waiting(move |sockets| Outcome::Ready(act(sockets).map(Into::into)))
    }

    pub fn until(self, alarm: Instant) -> Self {
        Self { alarm, ..self }
    }
}

/// A call's arguments.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    pub call: &'a Call,
    pub descriptors: &'a BTreeMap<i64, Descriptor>,
}

impl<'a> Arguments<'a> {
    pub fn text(&self, index: usize) -> &'a str {
        self.call.arguments.get(index).map_or("", String::as_str)
    }

    pub fn number(&self, index: usize) -> i64 {
        number(self.text(index)).unwrap_or(0)
    }

    pub fn descriptor(&self, index: usize) -> Descriptor {
        let script = number(self.text(index));
        let known = script.and_then(|number| self.descriptors.get(&number));
        known.copied().unwrap_or(NONE)
    }

    /// Flags, if all are known.
    pub fn flags(&self, index: usize, known: i32) -> Result<i32, Stop> {
        let text = self.text(index);
        let flags = match text {
            "" => Some(0),
            text => value(text).and_then(|flags| i32::try_from(flags).ok()),
        };
        match flags {
            Some(flags) if flags & !known == 0 => Ok(flags),
            _ => unsupported(format!("{} with {text}", self.call.name)),
        }
    }

    /// Whether the address is of no family.
    pub fn is_unspecified(&self) -> bool {
        let mut all = self.call.arguments.iter();
        all.any(|one| one.contains("AF_UNSPEC"))
    }
}

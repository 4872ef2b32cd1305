//! epoll: the structures of its calls.

use airtcp_units::{Duration, Instant};

use super::Machine;
use super::made::{Difference, Made, Returned};
use super::stop::{Stop, unsupported};
use crate::posix::Outcome;
use crate::posix::constants::{
    EPOLLERR, EPOLLET, EPOLLEXCLUSIVE, EPOLLHUP, EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLRDHUP, value,
};
use crate::syntax::Call;

/// The events and flags that entries may have.
const KNOWN: u32 =
    EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLRDHUP | EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE;
/// The events that are reported, by name in order.
const REPORTED: [(u32, &str); 5] = [
    (EPOLLERR, "EPOLLERR"),
    (EPOLLHUP, "EPOLLHUP"),
    (EPOLLIN, "EPOLLIN"),
    (EPOLLOUT, "EPOLLOUT"),
    (EPOLLRDHUP, "EPOLLRDHUP"),
];

/// The flags in each `events=` of a structure's text.
fn events(text: &str) -> impl Iterator<Item = &str> {
    let all = text.split("events=").skip(1);
    all.filter_map(|rest| rest.split([',', '}']).next())
        .map(str::trim)
}

/// The names of events, joined.
fn names(events: u32) -> String {
    let named = REPORTED.iter().filter(|(bit, _)| events & bit != 0);
    let names: Vec<_> = named.map(|&(_, name)| name).collect();
    names.join("|")
}

/// The number of flags of epoll.
fn bits(flags: &str) -> Option<u32> {
    value(flags).and_then(|bits| u32::try_from(bits).ok())
}

impl Machine<'_> {
    pub(super) fn epoll_ctl(&self, call: &Call) -> Result<Made, Stop> {
        let arguments = self.arguments(call);
        let operation = value(arguments.text(1)).and_then(|number| number.try_into().ok());
        let operation = operation.unwrap_or(-1);
        let (epoll, one) = (arguments.descriptor(0), arguments.descriptor(2));
        let flags = events(arguments.text(3)).next();
        let wanted = flags.map(|flags| match bits(flags) {
            Some(bits) if bits & !KNOWN == 0 => Ok((bits, one.unsigned_abs().into())),
            _ => unsupported(format!("epoll_ctl with {flags}")),
        });
        let wanted = wanted.transpose()?;
        Ok(Made::at_once(move |sockets| {
            sockets.watch(epoll, operation, one, wanted).map(|()| 0)
        }))
    }

    pub(super) fn epoll_wait(&self, call: &Call) -> Made {
        let arguments = self.arguments(call);
        let epoll = arguments.descriptor(0);
        let most = usize::try_from(arguments.number(2)).unwrap_or(0);
        let until = match u64::try_from(arguments.number(3)) {
            Ok(millis) => self.now() + Duration::from_millis(millis),
            Err(_) => Instant::FAR_FUTURE,
        };
        let expected = events(arguments.text(1)).map(|flags| names(bits(flags).unwrap_or(0)));
        let expected: Vec<_> = expected.filter(|names| !names.is_empty()).collect();
        let made = Made::waiting(move |sockets| {
            let found = sockets.news(epoll, most)?;
            if found.is_empty() && sockets.now < until {
                return Outcome::Pending;
            }
            let names: Vec<_> = found.iter().map(|&(events, _)| names(events)).collect();
            let difference = (names != expected).then(|| Difference {
                what: "epoll_wait() tells something else".to_owned(),
                expected: expected.join(", "),
                found: names.join(", "),
            });
            let value = i64::try_from(found.len()).unwrap_or(i64::MAX);
            Outcome::Ready(Ok(Returned { value, difference }))
        });
        made.until(until)
    }
}

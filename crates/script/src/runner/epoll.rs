//! epoll over the single connection: EPOLLIN, EPOLLOUT and EPOLLERR, level-triggered,
//! edge-triggered (EPOLLET) and one-shot (EPOLLONESHOT). Waits with a duration are not supported.

use super::answer::Answer;
use super::{Machine, Stop, unsupported};
use crate::syntax::Call;

/// An entry of the interest list.
#[derive(Debug)]
pub(super) struct Watch {
    readable: bool,
    writable: bool,
    by_edge: bool,
    once: bool,
    /// Whether EPOLLONESHOT has reported its only event.
    is_spent: bool,
    /// State at the last reported event; `None` before the first.
    told: Option<Edge>,
}

/// State that triggers an edge: data or its end, and completed sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    received: u64,
    is_finished: bool,
    sends_done: u32,
}

/// The flags in `events=` of a structure's text.
fn events(text: &str) -> Vec<&str> {
    let Some((_, rest)) = text.split_once("events=") else {
        return Vec::new();
    };
    let flags = rest.split([',', '}']).next().unwrap_or_default();
    flags.split('|').map(str::trim).collect()
}

impl Machine<'_> {
    pub(super) fn epoll_ctl(&mut self, call: &Call) -> Result<Answer, Stop> {
        let argument = |index: usize| call.arguments.get(index).map_or("", String::as_str);
        if argument(1) == "EPOLL_CTL_DEL" {
            self.watch = None;
            return Ok(Answer::Value(0));
        }
        let flags = events(argument(3));
        let has = |name: &str| flags.contains(&name);
        if let Some(other) = flags.iter().find(|flag| {
            ![
                "EPOLLIN",
                "EPOLLOUT",
                "EPOLLERR",
                "EPOLLET",
                "EPOLLONESHOT",
                "EPOLLEXCLUSIVE",
            ]
            .contains(flag)
        }) {
            return unsupported(format!("epoll_ctl with {other}"));
        }
        self.watch = Some(Watch {
            readable: has("EPOLLIN"),
            writable: has("EPOLLOUT"),
            by_edge: has("EPOLLET"),
            once: has("EPOLLONESHOT"),
            is_spent: false,
            told: None,
        });
        Ok(Answer::Value(0))
    }

    pub(super) fn epoll_wait(&mut self, call: &Call) -> Result<Answer, Stop> {
        let argument = |index: usize| call.arguments.get(index).map_or("", String::as_str);
        let found = self.next_events();
        if found.is_empty() && argument(3) != "0" {
            return unsupported("epoll_wait that has to wait");
        }
        let mut expected = events(argument(1));
        expected.retain(|&flag| flag != "0");
        expected.sort_unstable();
        if expected != found {
            return Err(Stop::Failed(self.exchange.compare(
                "epoll_wait() tells something else",
                &expected.join("|"),
                &found.join("|"),
            )));
        }
        Ok(Answer::Value(i64::from(!found.is_empty())))
    }

    /// The events to report now, by name in order.
    fn next_events(&mut self) -> Vec<&'static str> {
        let (Some(connection), true) = (&self.connection, self.is_established()) else {
            return Vec::new();
        };
        let receiver = connection.receiver();
        let una = connection.sender().una();
        let happened = Edge {
            received: receiver.received(),
            is_finished: receiver.is_finished(),
            sends_done: self.notices.done(una),
        };
        let waits = receiver.received() > receiver.read_so_far() || receiver.is_finished();
        let fails = self.notices.pending(una) > 0;
        let Some(watch) = &mut self.watch else {
            return Vec::new();
        };
        let is_old = watch.by_edge && watch.told == Some(happened);
        if watch.is_spent || is_old {
            return Vec::new();
        }
        let mut found = Vec::new();
        if fails {
            found.push("EPOLLERR");
        }
        if waits && watch.readable {
            found.push("EPOLLIN");
        }
        // An application's writes are unlimited here.
        if watch.writable {
            found.push("EPOLLOUT");
        }
        if !found.is_empty() {
            watch.told = Some(happened);
            watch.is_spent = watch.once;
        }
        found
    }
}

//! System calls: the application's actions, and their required results.

use std::net::SocketAddr;

use airtcp_units::Instant;

use super::Machine;
use super::made::{Arguments, Difference, Made, Returned};
use super::messages::parts_length;
use super::reading::{counted, read};
use super::stop::{Step, Stop, unsupported};
use crate::parser::number;
use crate::posix::constants::{
    F_GETFL, F_SETFL, FIONREAD, MSG_DONTWAIT, MSG_EOR, MSG_FASTOPEN, MSG_MORE, MSG_NOSIGNAL,
    MSG_PEEK, MSG_ZEROCOPY, SIOCOUTQ, SIOCOUTQNSD, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, value,
};
use crate::posix::{Descriptor, Errno, Outcome, Outgoing};
use crate::syntax::Call;

/// Flags of reads and writes that the endpoint has.
const READ_FLAGS: i32 = MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL;
const WRITE_FLAGS: i32 =
    MSG_DONTWAIT | MSG_EOR | MSG_NOSIGNAL | MSG_MORE | MSG_ZEROCOPY | MSG_FASTOPEN;
/// The longest write in bytes: its data is held in memory.
const MAX_WRITE: i64 = 1 << 28;

/// A call that has not returned yet.
pub(super) struct Blocked {
    call: Call,
    made: Made,
    until: Instant,
}

impl Blocked {
    pub fn alarm(&self) -> Instant {
        self.made.alarm
    }
}

impl Machine<'_> {
    /// An application call that returns immediately, or blocks until `ends`.
    pub(super) fn call(&mut self, call: &Call, ends: Option<Instant>) -> Step {
        let mut made = self.made(call)?;
        let outcome = (made.attempt)(&mut self.sockets);
        let descriptor = self.arguments(call).descriptor(0);
        self.observe(descriptor);
        let answer = match outcome {
            Outcome::Ready(answer) => Some(self.name_descriptor(call, answer)),
            Outcome::Pending => None,
        };
        self.drain();
        self.settle_blocked()?;
        match (answer, ends) {
            (Some(_), Some(until)) if self.now() + self.tolerance < until => {
                self.fail(call, "it returned too early")
            }
            (Some(answer), _) => self.check(call, &answer),
            (None, Some(until)) => {
                self.blocked.push(Blocked {
                    call: call.clone(),
                    made,
                    until,
                });
                Ok(())
            }
            (None, None) => self.fail(
                call,
                "it would have to wait, and the script gives it no time to",
            ),
        }
    }

    /// Blocked calls that can return now.
    pub(super) fn settle_blocked(&mut self) -> Step {
        let waiting = std::mem::take(&mut self.blocked);
        for mut blocked in waiting {
            let Outcome::Ready(answer) = (blocked.made.attempt)(&mut self.sockets) else {
                if self.now() > blocked.until + self.tolerance {
                    return self.fail(&blocked.call, "it has not returned in time");
                }
                self.blocked.push(blocked);
                continue;
            };
            if self.now() + self.tolerance < blocked.until {
                return self.fail(&blocked.call, "it returned too early");
            }
            let answer = self.name_descriptor(&blocked.call, answer);
            self.check(&blocked.call, &answer)?;
            self.drain();
        }
        Ok(())
    }

    pub(super) fn arguments<'a>(&'a self, call: &'a Call) -> Arguments<'a> {
        Arguments {
            call,
            descriptors: &self.descriptors,
        }
    }

    fn fail(&self, call: &Call, what: &str) -> Step {
        Err(Stop::Failed(self.exchange.compare(
            &format!("{}(): {what}", call.name),
            "",
            "",
        )))
    }

    /// Gives a new descriptor the script's number.
    fn name_descriptor(
        &mut self,
        call: &Call,
        answer: Result<Returned, Errno>,
    ) -> Result<Returned, Errno> {
        let mut returned = answer?;
        let is_new = matches!(
            call.name.as_str(),
            "socket" | "accept" | "accept4" | "epoll_create" | "epoll_create1"
        );
        if is_new && let Ok(live) = Descriptor::try_from(returned.value) {
            returned.value = match call.returns {
                Some(script) if script >= 0 => script,
                _ => returned.value,
            };
            self.descriptors.insert(returned.value, live);
        }
        Ok(returned)
    }

    fn check(&self, call: &Call, answer: &Result<Returned, Errno>) -> Step {
        let (value, error) = match answer {
            Ok(returned) => (returned.value, None),
            Err(error) => (-1, Some(error.name())),
        };
        let wrong_value = call.returns.is_some_and(|expected| expected != value);
        let wrong_error = call.error.is_some() && call.error.as_deref() != error;
        if wrong_value || wrong_error {
            let text = |value: i64, error: Option<&str>| {
                error.map_or_else(|| value.to_string(), |error| format!("{value} {error}"))
            };
            return Err(Stop::Failed(self.exchange.compare(
                &format!("{}() returned something else", call.name),
                &text(call.returns.unwrap_or(0), call.error.as_deref()),
                &text(value, error),
            )));
        }
        match answer {
            Ok(Returned {
                difference: Some(difference),
                ..
            }) => Err(Stop::Failed(self.exchange.compare(
                &difference.what,
                &difference.expected,
                &difference.found,
            ))),
            _ => Ok(()),
        }
    }

    /// The call on the sockets that the script asks for.
    fn made(&mut self, call: &Call) -> Result<Made, Stop> {
        let arguments = self.arguments(call);
        let one = arguments.descriptor(0);
        Ok(match call.name.as_str() {
            "socket" => return self.make_socket(call),
            "bind" => {
                let address = self.path.bound();
                Made::at_once(move |sockets| sockets.bind(one, address).map(|()| 0))
            }
            "listen" => {
                let backlog = i32::try_from(arguments.number(1)).unwrap_or(i32::MAX);
                Made::at_once(move |sockets| sockets.listen(one, backlog).map(|()| 0))
            }
            "accept" | "accept4" => {
                let kind = arguments.flags(3, SOCK_NONBLOCK | SOCK_CLOEXEC)?;
                Made::waiting(move |sockets| {
                    let accepted = sockets.accept(one, kind);
                    accepted.map_ok(|(descriptor, _)| i64::from(descriptor).into())
                })
            }
            "connect" => self.connect(call)?,
            "read" => read(one, arguments.number(2), 0),
            "recv" | "recvfrom" => {
                let flags = arguments.flags(3, READ_FLAGS)?;
                read(one, arguments.number(2), flags)
            }
            "readv" => read(one, parts_length(arguments.text(1)), 0),
            "write" => self.write(call, arguments.number(2), 0)?,
            "send" | "sendto" => {
                let flags = arguments.flags(3, WRITE_FLAGS)?;
                self.write(call, arguments.number(2), flags)?
            }
            "writev" => self.write(call, parts_length(arguments.text(1)), 0)?,
            "sendmsg" => {
                let flags = arguments.flags(2, WRITE_FLAGS)?;
                self.write(call, parts_length(arguments.text(1)), flags)?
            }
            "recvmsg" => self.receive_message(call)?,
            "epoll_create" | "epoll_create1" => {
                Made::at_once(|sockets| sockets.make_epoll().map(i64::from))
            }
            "epoll_ctl" => self.epoll_ctl(call)?,
            "epoll_wait" => self.epoll_wait(call),
            "close" => Made::at_once(move |sockets| sockets.close(one).map(|()| 0)),
            "shutdown" => {
                let how = value(arguments.text(1)).and_then(|how| i32::try_from(how).ok());
                let how = how.unwrap_or(-1);
                Made::at_once(move |sockets| sockets.shut(one, how).map(|()| 0))
            }
            "fcntl" => {
                let flags = value(arguments.text(2)).unwrap_or(0);
                let command = value(arguments.text(1)).and_then(|number| number.try_into().ok());
                match command {
                    Some(command @ (F_GETFL | F_SETFL)) => Made::at_once(move |sockets| {
                        sockets.control(one, command, flags).map(i64::from)
                    }),
                    _ => return unsupported(format!("fcntl({})", arguments.text(1))),
                }
            }
            "getsockopt" => self.get_option(call)?,
            "setsockopt" => self.set_option(call)?,
            "ioctl" => self.ioctl(call)?,
            name => return unsupported(format!("{name}()")),
        })
    }

    /// A new socket: the connection under test is one of its own.
    fn make_socket(&mut self, call: &Call) -> Result<Made, Stop> {
        let arguments = self.arguments(call);
        let (kind, protocol) = (arguments.text(1), arguments.text(2));
        let known = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
        let Ok(kind) = arguments.flags(1, known) else {
            return unsupported(format!("socket({kind}, {protocol})"));
        };
        if kind & SOCK_STREAM == 0 || protocol.contains("MPTCP") {
            return unsupported(format!("socket({}, {protocol})", arguments.text(1)));
        }
        let protocol = value(protocol).and_then(|number| number.try_into().ok());
        let protocol = protocol.unwrap_or(0);
        self.path.flow = None;
        self.sent.clear();
        Ok(Made::at_once(move |sockets| {
            sockets.make_socket(kind, protocol).map(i64::from)
        }))
    }

    fn connect(&self, call: &Call) -> Result<Made, Stop> {
        let arguments = self.arguments(call);
        if arguments.is_unspecified() {
            return unsupported("connect() with AF_UNSPEC");
        }
        let (one, server) = (arguments.descriptor(0), self.path.server());
        let mut has_begun = false;
        Ok(Made::waiting(move |sockets| {
            let outcome = if std::mem::replace(&mut has_begun, true) {
                sockets.connected(one)
            } else {
                sockets.connect(one, server)
            };
            outcome.map_ok(|()| 0.into())
        }))
    }

    fn write(&self, call: &Call, bytes: i64, flags: i32) -> Result<Made, Stop> {
        let arguments = self.arguments(call);
        let one = arguments.descriptor(0);
        if bytes > MAX_WRITE {
            return unsupported(format!("{} of {bytes} bytes", call.name));
        }
        if arguments.text(1) == "NULL" {
            return Ok(Made::at_once(|_| Err::<i64, _>(Errno::EFAULT)));
        }
        let to: Result<SocketAddr, Errno> = if arguments.is_unspecified() {
            Err(Errno::EOPNOTSUPP)
        } else {
            Ok(self.path.server())
        };
        let bytes = vec![0; usize::try_from(bytes).unwrap_or(0)];
        let mut message = Outgoing::new(bytes, flags, to);
        Ok(Made::waiting(move |sockets| {
            let written = sockets.write(one, &mut message);
            written.map_ok(|count| counted(count).into())
        }))
    }

    fn ioctl(&self, call: &Call) -> Result<Made, Stop> {
        let arguments = self.arguments(call);
        let (one, name) = (arguments.descriptor(0), arguments.text(1).to_owned());
        let request = value(&name).and_then(|request| u64::try_from(request).ok());
        let Some(request @ (FIONREAD | SIOCOUTQ | SIOCOUTQNSD)) = request else {
            return unsupported(format!("ioctl({name})"));
        };
        let expected = arguments.text(2).to_owned();
        Ok(Made::at_once(move |sockets| {
            let bytes = i64::from(sockets.queue(one, request)?);
            let is_so = number(expected.trim_matches(['[', ']'])) == Some(bytes);
            Ok(Returned {
                value: 0,
                difference: (!is_so).then(|| Difference {
                    what: format!("ioctl({name}) tells something else"),
                    expected: expected.clone(),
                    found: format!("[{bytes}]"),
                }),
            })
        }))
    }
}

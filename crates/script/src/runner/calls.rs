//! System calls: the application's actions, and their required results.

use airtcp_packet::SequenceNumber;
use airtcp_tcp::{Connection, End, State};
use airtcp_units::{Duration, Instant};

use super::answer::Answer;
use super::messages::parts_length;
use super::{Blocked, Machine, Step, Stop, unsupported};
use crate::parser::number;
use crate::settings::{self, SettingOutcome};
use crate::syntax::Call;

impl Machine<'_> {
    /// An application call that returns immediately, or blocks until `ends`.
    pub(super) fn call(&mut self, call: &Call, ends: Option<Instant>) -> Step {
        let answer = self.answer(call)?;
        self.drain();
        self.settle_blocked()?;
        match answer {
            Answer::Waits => match ends {
                Some(until) => {
                    self.blocked.push(Blocked {
                        call: call.clone(),
                        from: until,
                        until,
                    });
                    Ok(())
                }
                None if matches!(call.name.as_str(), "accept" | "connect" | "read" | "recv") => {
                    self.fail(
                        call,
                        "it would have to wait, and the script gives it no time to",
                    )
                }
                None => Ok(()),
            },
            answer => self.check(call, &answer),
        }
    }

    /// Blocked calls that can return now.
    pub(super) fn settle_blocked(&mut self) -> Step {
        let waiting = std::mem::take(&mut self.blocked);
        for blocked in waiting {
            let answer = self.answer_again(&blocked.call);
            if matches!(answer, Answer::Waits) {
                if self.now > blocked.until + self.tolerance() {
                    return self.fail(&blocked.call, "it has not returned in time");
                }
                self.blocked.push(blocked);
                continue;
            }
            if self.now + self.tolerance() < blocked.from {
                return self.fail(&blocked.call, "it returned too early");
            }
            self.check(&blocked.call, &answer)?;
            self.drain();
        }
        Ok(())
    }

    fn answer_again(&mut self, call: &Call) -> Answer {
        match call.name.as_str() {
            "accept" | "connect" => {
                if self.is_established() {
                    self.opened(call);
                    Answer::Value(call.returns.unwrap_or(0))
                } else {
                    self.take_error().map_or(Answer::Waits, Answer::Error)
                }
            }
            "sendto" | "sendmsg" | "write" => self.written_fast(),
            _ => self.read(call),
        }
    }

    fn fail(&self, call: &Call, what: &str) -> Step {
        Err(Stop::Failed(self.exchange.compare(
            &format!("{}(): {what}", call.name),
            "",
            "",
        )))
    }

    fn check(&self, call: &Call, answer: &Answer) -> Step {
        let (value, error) = match answer {
            Answer::Value(value) => (*value, None),
            Answer::Error(name) => (-1, Some(*name)),
            Answer::Waits => return Ok(()),
        };
        let wrong_value = call.returns.is_some_and(|expected| expected != value);
        let wrong_error = call.error.is_some() && call.error.as_deref() != error;
        if !(wrong_value || wrong_error) {
            return Ok(());
        }
        let text = |value: i64, error: Option<&str>| {
            error.map_or_else(|| value.to_string(), |error| format!("{value} {error}"))
        };
        Err(Stop::Failed(self.exchange.compare(
            &format!("{}() returned something else", call.name),
            &text(call.returns.unwrap_or(0), call.error.as_deref()),
            &text(value, error),
        )))
    }

    fn answer(&mut self, call: &Call) -> Result<Answer, Stop> {
        let argument = |index: usize| call.arguments.get(index).map_or("", String::as_str);
        let expected = Answer::Value(call.returns.unwrap_or(0));
        Ok(match call.name.as_str() {
            "socket" => {
                if !argument(1).contains("SOCK_STREAM") || argument(2).contains("MPTCP") {
                    return unsupported(format!("socket({}, {})", argument(1), argument(2)));
                }
                self.non_blocking = argument(1).contains("NONBLOCK");
                self.renew();
                expected
            }
            "bind" => expected,
            "listen" => {
                self.listening = number(argument(0));
                self.listen();
                expected
            }
            "accept" | "accept4" => {
                if self.is_established() || self.came {
                    self.opened(call);
                    expected
                } else if self.non_blocking {
                    Answer::Error("EAGAIN")
                } else {
                    Answer::Waits
                }
            }
            "connect" => self.connect(call)?,
            "read" | "recv" | "recvfrom" => {
                if call.arguments.iter().any(|one| one.contains("MSG_")) {
                    return unsupported(format!("{} with flags", call.name));
                }
                self.read(call)
            }
            "write" | "send" | "sendto" => self.write(call)?,
            "recvmsg" => self.receive_message(call)?,
            "epoll_create" | "epoll_create1" => expected,
            "epoll_ctl" => self.epoll_ctl(call)?,
            "epoll_wait" => self.epoll_wait(call)?,
            "close" => self.close(call),
            "shutdown" => self.shutdown(argument(1)),
            "fcntl" => {
                if argument(1) == "F_SETFL" {
                    self.non_blocking = argument(2).contains("NONBLOCK");
                }
                expected
            }
            "sendmsg" | "writev" => self.write_vector(call)?,
            "getsockopt" => self.get_option(call)?,
            "setsockopt" => return self.set_option(call),
            "ioctl" => self.ioctl(argument(1), argument(2))?,
            name => return unsupported(format!("{name}()")),
        })
    }

    fn opened(&mut self, call: &Call) {
        (self.accepted, self.came) = (true, false);
        self.descriptor = match call.name.as_str() {
            "connect" => call.arguments.first().and_then(|one| number(one)),
            _ => call.returns,
        };
    }

    fn connect(&mut self, call: &Call) -> Result<Answer, Stop> {
        if let Some(connection) = &self.connection {
            return Ok(match connection.state() {
                State::SynSent | State::SynReceived => Answer::Error("EALREADY"),
                _ => Answer::Value(0),
            });
        }
        self.descriptor = call.arguments.first().and_then(|one| number(one));
        if let Some(answer) = self.connect_fast() {
            return Ok(answer);
        }
        self.connection = Some(Connection::connect(&self.config, SequenceNumber(0)));
        if self.config.mss == 0 {
            return unsupported("segments of no bytes");
        }
        Ok(if self.non_blocking {
            Answer::Error("EINPROGRESS")
        } else {
            Answer::Waits
        })
    }

    pub(super) fn read(&mut self, call: &Call) -> Answer {
        let most = call
            .arguments
            .get(2)
            .and_then(|one| number(one))
            .unwrap_or(0);
        let most = u64::try_from(most).unwrap_or(0);
        let non_blocking = self.non_blocking;
        let shut = self.reads_shut;
        if self.waits_for_data() {
            return Answer::Error("EAGAIN");
        }
        let Some(connection) = &mut self.connection else {
            return Answer::Error("ENOTCONN");
        };
        let bytes = connection.read(most);
        if bytes > 0 || most == 0 {
            return Answer::Value(i64::try_from(bytes).unwrap_or(i64::MAX));
        }
        if connection.receiver().is_finished() || shut {
            return Answer::Value(0);
        }
        match connection.state() {
            State::Closed => self.take_error().map_or(Answer::Value(0), Answer::Error),
            _ if non_blocking => Answer::Error("EAGAIN"),
            _ => Answer::Waits,
        }
    }

    fn write(&mut self, call: &Call) -> Result<Answer, Stop> {
        let flags = call.arguments.get(3).map_or("", String::as_str);
        if flags.contains("OOB") {
            return unsupported(format!("{} with {flags}", call.name));
        }
        let bytes = call
            .arguments
            .get(2)
            .and_then(|one| number(one))
            .unwrap_or(0);
        if self.opens_by_writing(flags) {
            let bytes = u64::try_from(bytes).unwrap_or(0);
            return self.write_fast(call, bytes, flags);
        }
        if flags.contains("MSG_FASTOPEN") && self.is_opening() {
            return Ok(Answer::Error("EALREADY"));
        }
        if self.is_opening() && (self.non_blocking || flags.contains("MSG_DONTWAIT")) {
            return Ok(Answer::Error("EAGAIN"));
        }
        let shut = self.writes_shut;
        let corked = self.corked;
        let error = self.take_error();
        let Some(connection) = &mut self.connection else {
            return Ok(Answer::Error("EPIPE"));
        };
        if shut || connection.state() == State::Closed {
            return Ok(Answer::Error(error.unwrap_or("EPIPE")));
        }
        connection.set_corked(corked);
        connection.set_more(flags.contains("MSG_MORE"));
        self.records
            .write(connection, u64::try_from(bytes).unwrap_or(0));
        if flags.contains("MSG_EOR") {
            self.records.end(connection);
        }
        if flags.contains("MSG_ZEROCOPY") {
            self.notices.on_sent(self.records.written());
        }
        Ok(Answer::Value(bytes))
    }

    /// Whether our SYN is not answered.
    fn is_opening(&self) -> bool {
        let state = self.connection.as_ref().map(Connection::state);
        matches!(state, Some(State::SynSent))
    }

    fn write_vector(&mut self, call: &Call) -> Result<Answer, Stop> {
        let bytes = parts_length(call.arguments.get(1).map_or("", String::as_str));
        let flags = call.arguments.get(2).cloned().unwrap_or_default();
        self.write(&Call {
            arguments: vec![String::new(), String::new(), bytes.to_string(), flags],
            ..call.clone()
        })
    }

    fn get_option(&mut self, call: &Call) -> Result<Answer, Stop> {
        let argument = |index: usize| call.arguments.get(index).map_or("", String::as_str);
        let value = match (argument(2), &self.connection) {
            ("TCP_MAXSEG", Some(connection)) if self.is_established() => {
                connection.sender().mss().to_string()
            }
            // The requested value, or the default of a peer without the option (Linux,
            // `do_tcp_getsockopt`).
            ("TCP_MAXSEG", _) => self.wanted_mss.unwrap_or(536).to_string(),
            ("SO_ERROR", _) => self.take_error().unwrap_or("0").to_owned(),
            (name, _) => return unsupported(format!("getsockopt({name})")),
        };
        let expected = argument(3).trim_matches(['[', ']']).trim();
        if expected != value {
            return Err(Stop::Failed(self.exchange.compare(
                &format!("getsockopt({}) tells something else", argument(2)),
                expected,
                &value,
            )));
        }
        Ok(Answer::Value(0))
    }

    /// The connection's final error, reported only once.
    pub(super) fn take_error(&mut self) -> Option<&'static str> {
        let connection = self.connection.as_ref()?;
        let error = match connection.end()? {
            End::Reset if connection.receiver().is_finished() => "EPIPE",
            End::Reset => "ECONNRESET",
            End::Refused => "ECONNREFUSED",
            End::TimedOut => "ETIMEDOUT",
            End::Orderly | End::Aborted => return None,
        };
        let told = std::mem::replace(&mut self.told_of_end, true);
        (!told).then_some(error)
    }

    fn close(&mut self, call: &Call) -> Answer {
        let descriptor = call.arguments.first().and_then(|one| number(one));
        if descriptor == self.listening && descriptor.is_some() {
            self.listening = None;
            let now = self.now;
            if let Some(connection) = &mut self.connection
                && connection.is_open_early()
                && !self.accepted
            {
                connection.abort(now);
            }
            return Answer::Value(0);
        }
        self.reads_shut = true;
        let now = self.now;
        if let Some(connection) = &mut self.connection {
            connection.set_corked(false);
            // No reader is left to distinguish records.
            self.records.join(connection);
            connection.release(now);
        }
        Answer::Value(0)
    }

    fn shutdown(&mut self, how: &str) -> Answer {
        let Some(connection) = &mut self.connection else {
            return Answer::Error("ENOTCONN");
        };
        if matches!(
            connection.state(),
            State::Closed | State::Listen | State::SynSent
        ) {
            return Answer::Error("ENOTCONN");
        }
        if how == "SHUT_WR" || how == "SHUT_RDWR" {
            self.writes_shut = true;
            connection.set_corked(false);
            self.records.close(connection);
        }
        if how == "SHUT_RD" || how == "SHUT_RDWR" {
            self.reads_shut = true;
            connection.shut_reading();
        }
        Answer::Value(0)
    }

    fn ioctl(&mut self, request: &str, expected: &str) -> Result<Answer, Stop> {
        let Some(connection) = &self.connection else {
            return unsupported("ioctl() before there is a connection");
        };
        let bytes = match request {
            "SIOCINQ" | "FIONREAD" => {
                let receiver = connection.receiver();

                receiver.received() - receiver.read_so_far()
            }
            "SIOCOUTQ" => self.records.written() - connection.sender().una(),
            _ => return unsupported(format!("ioctl({request})")),
        };
        if number(expected.trim_matches(['[', ']'])) != i64::try_from(bytes).ok() {
            return Err(Stop::Failed(self.exchange.compare(
                &format!("ioctl({request}) tells something else"),
                expected,
                &format!("[{bytes}]"),
            )));
        }
        Ok(Answer::Value(0))
    }

    fn set_option(&mut self, call: &Call) -> Result<Answer, Stop> {
        let argument = |index: usize| call.arguments.get(index).map_or("", String::as_str);
        let value = argument(3).trim_matches(['[', ']']).trim();
        let is_on = number(value).is_some_and(|value| value != 0);
        if let Some(answer) = self.fast_open.set_option(argument(2), value, argument(4)) {
            return Ok(answer);
        }
        match argument(2) {
            // Options without effect on the wire here.
            "SO_REUSEADDR"
            | "SO_SNDBUF"
            | "SO_LINGER"
            | "IP_TOS"
            | "IP_MTU_DISCOVER"
            | "SO_DEBUG"
            | "SO_SNDBUFFORCE"
            | "IP_BIND_ADDRESS_NO_PORT"
            | "SO_RCVLOWAT"
            | "SO_MARK"
            | "TCP_INQ"
            | "SO_KEEPALIVE"
            | "TCP_KEEPIDLE" => {}
            "TCP_SYNCNT" => {
                let most = number(value).and_then(|most| u8::try_from(most).ok());
                self.config.limits.syn_retries = most.unwrap_or(u8::MAX);
                if let Some(connection) = &mut self.connection {
                    connection.set_syn_retries(self.config.limits.syn_retries);
                }
            }
            "SO_ZEROCOPY" => self.notices.wanted = is_on,
            "TCP_NODELAY" => {
                self.config.nagle = !is_on;
                if let Some(connection) = &mut self.connection {
                    connection.set_no_delay(is_on);
                    if is_on {
                        connection.set_corked(false);
                    }
                }
            }
            "TCP_CORK" => {
                self.corked = is_on;
                if let Some(connection) = &mut self.connection {
                    connection.set_corked(is_on);
                }
            }
            "TCP_CONGESTION" if self.connection.is_none() => {
                if let SettingOutcome::Unsupported(what) =
                    settings::congestion_control(value, &mut self.config)
                {
                    return unsupported(what);
                }
            }
            "TCP_MAXSEG" if !self.is_established() => {
                if let Some(mss) = number(value).and_then(|mss| u32::try_from(mss).ok()) {
                    self.wanted_mss = Some(mss);
                    // The socket's value includes the timestamps, as the option on the wire does.
                    let stamps = if self.config.timestamps { 12 } else { 0 };
                    self.config.mss = self.config.mss.min(mss.saturating_sub(stamps).max(1));
                    if self.listening.is_some() {
                        self.listen();
                    }
                }
            }
            "TCP_RTO_MIN_US" if self.connection.is_none() => {
                if let Some(micros) = number(value).and_then(|micros| u64::try_from(micros).ok()) {
                    self.config.timeout.min = Duration::from_micros(micros);
                }
            }
            "TCP_USER_TIMEOUT" => {
                let most = number(value).and_then(|most| u64::try_from(most).ok());
                let most = most.filter(|&most| most > 0).map(Duration::from_millis);
                self.config.limits.user_timeout = most;
                if let Some(connection) = &mut self.connection {
                    connection.set_user_timeout(most);
                }
            }
            name => return unsupported(format!("setsockopt({name})")),
        }
        Ok(Answer::Value(call.returns.unwrap_or(0)))
    }
}

//! Runs a script against a connection in virtual time.

mod answer;
mod calls;
mod epoll;
mod fast_open;
mod messages;
mod packets;

use std::collections::{BTreeMap, VecDeque};

use airtcp_packet::{Segment, SequenceNumber};
use airtcp_tcp::{Config, Connection, Records, State};
use airtcp_units::{Duration, Instant};

use crate::Verdict;
use crate::expression::{self, Outcome};
use crate::report::Exchange;
use crate::settings::{self, SettingOutcome};
use crate::stopwatch::Stopwatch;
use crate::syntax::{Action, Call, Event, Script, Time};
use crate::tcp_info;
use epoll::Watch;
use fast_open::FastOpenState;
use messages::Notices;

/// Tolerance of an event's time, unless the script sets another (packetdrill's default).
const TOLERANCE: Duration = Duration::from_micros(4000);
/// Ethernet's MTU, which an option `--mtu` may change.
const MTU: u32 = 1500;
/// Bytes of the headers of TCP and IPv4, or of TCP and IPv6.
const HEADERS: u32 = 40;
const HEADERS_OF_IPV6: u32 = 60;
const TIMESTAMP_BYTES: u32 = 12;

/// Why a script ended early.
#[derive(Debug)]
enum Stop {
    Failed(String),
    Unsupported(String),
    Interrupted,
}

type Step = Result<(), Stop>;

fn unsupported<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Unsupported(what.into()))
}

/// A call that has not returned yet.
#[derive(Debug)]
struct Blocked {
    call: Call,
    from: Instant,
    until: Instant,
}

/// The endpoint under test and the script's view of it.
struct Machine<'a> {
    /// Polled regularly; `false` cancels the run.
    goes_on: &'a dyn Fn() -> bool,
    config: Config,
    now: Instant,
    tolerance: Duration,
    /// Bytes of a packet, and of those the headers of TCP and IP.
    mtu: u32,
    headers: u32,
    connection: Option<Connection>,
    /// Data written by the application, and the ends of its records (MSG_EOR).
    records: Records,
    listening: Option<i64>,
    accepted: bool,
    descriptor: Option<i64>,
    non_blocking: bool,
    reads_shut: bool,
    writes_shut: bool,
    corked: bool,
    /// The requested segment size, options included.
    wanted_mss: Option<u32>,
    /// Whether the final error was reported to the application.
    told_of_end: bool,
    notices: Notices,
    fast_open: FastOpenState,
    watch: Option<Watch>,
    blocked: Vec<Blocked>,
    /// Segments that left and are not yet matched.
    sent: VecDeque<(Instant, Segment)>,
    /// The peer's initial sequence number: origin of the script's numbers, except in a SYN.
    isn: u32,
    /// Whether a connection could be accepted at any time.
    came: bool,
    /// Mapping from the script's timestamps to the connection's.
    stamps: BTreeMap<u32, u32>,
    exchange: Exchange,
    data_received_at: Instant,
    stopwatch: Stopwatch,
}

/// Runs `script` against an endpoint with configuration `config`, except for the script's settings.
#[must_use]
pub fn run(script: &Script, config: &Config) -> Verdict {
    run_while(script, config, &|| true).expect("it is never asked to stop")
}

/// Like [`run`], but cancelled (`None`) when `goes_on`, called before each event and timer, returns
/// `false`.
#[must_use]
pub fn run_while(script: &Script, config: &Config, goes_on: &dyn Fn() -> bool) -> Option<Verdict> {
    let mut machine = Machine {
        goes_on,
        config: *config,
        now: Instant::ZERO,
        tolerance: TOLERANCE,
        mtu: MTU,
        headers: HEADERS,
        connection: None,
        records: Records::default(),
        listening: None,
        accepted: false,
        descriptor: None,
        non_blocking: false,
        reads_shut: false,
        writes_shut: false,
        corked: false,
        wanted_mss: None,
        told_of_end: false,
        notices: Notices::default(),
        fast_open: FastOpenState::default(),
        watch: None,
        blocked: Vec::new(),
        sent: VecDeque::new(),
        isn: 0,
        came: false,
        stamps: BTreeMap::new(),
        exchange: Exchange::default(),
        data_received_at: Instant::ZERO,
        stopwatch: Stopwatch::default(),
    };
    machine.set_mss();
    for (name, value, line) in &script.options {
        if let Err(stop) = machine.option(name, value) {
            return verdict(stop, *line);
        }
    }
    for event in &script.events {
        if let Err(stop) = machine.event(event) {
            return verdict(stop, event.line);
        }
    }
    Some(Verdict::Passed)
}

fn verdict(stop: Stop, line: usize) -> Option<Verdict> {
    match stop {
        Stop::Failed(report) => Some(Verdict::Failed { line, report }),
        Stop::Unsupported(what) => Some(Verdict::Unsupported { line, what }),
        Stop::Interrupted => None,
    }
}

impl Machine<'_> {
    fn set_mss(&mut self) {
        let stamps = if self.config.timestamps {
            TIMESTAMP_BYTES
        } else {
            0
        };
        self.config.mss = self.mtu.saturating_sub(self.headers + stamps).max(1);
    }

    fn option(&mut self, name: &str, value: &str) -> Step {
        match (name, value.parse()) {
            ("tolerance_usecs", Ok(micros)) => self.tolerance = Duration::from_micros(micros),
            ("mtu", Ok(mtu)) => {
                self.mtu = u32::try_from(mtu).unwrap_or(MTU);
                self.set_mss();
            }
            // packetdrill segments arriving data for a device that aggregates it (`netdev.c`): the
            // endpoint gets it whole, and sends as its MTU and the peer allow.
            ("mss", Ok(_)) => {}
            ("tcp_ts_tick_usecs", Ok(0)) => {}
            ("local_ip" | "remote_ip", _) => {
                if let Ok(address) = value.parse() {
                    let place = match name {
                        "local_ip" => &mut self.fast_open.local,
                        _ => &mut self.fast_open.remote,
                    };
                    *place = address;
                }
            }
            ("tcp_ts_tick_usecs", Ok(micros)) => {
                self.config.timestamp_tick = Duration::from_micros(micros);
            }
            ("ip_version", _) => match value {
                // Mapped addresses only concern the socket: the packets are IPv4.
                "ipv4" | "ipv4_mapped_ipv6" => {}
                "ipv6" => {
                    self.headers = HEADERS_OF_IPV6;
                    self.fast_open.use_ipv6();
                    self.set_mss();
                }
                _ => {
                    return unsupported(format!(
                        "--ip_version={value}: expected ipv4, ipv6 or ipv4_mapped_ipv6"
                    ));
                }
            },
            (
                "bind_port" | "non_fatal" | "send_omit_free" | "define" | "code" | "verbose"
                | "debug" | "gateway_ip" | "netmask_ip" | "tcp_ts_ecr_scaled" | "connect_port"
                | "init_scripts" | "persistent_tun_dev" | "speed",
                _,
            ) => {}
            _ => return unsupported(format!("the option --{name}={value}")),
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Step {
        let (earliest, latest) = self.window(event.time);
        match &event.action {
            Action::Leaves(packet) => return self.expect(packet, earliest, latest),
            Action::Unsupported(what) => return unsupported(what.clone()),
            _ => {}
        }
        self.advance(earliest)?;
        match &event.action {
            Action::Arrives(packet) => self.inject(packet),
            Action::Call(call) => {
                let ends = event.ends.map(|ends| match event.time {
                    Time::Relative(start) => {
                        Instant::from_nanos(earliest.as_nanos() - start.as_nanos()) + ends
                    }
                    _ => Instant::ZERO + ends,
                });
                self.call(call, ends)
            }
            Action::Command(text) => match settings::command(text, &mut self.config) {
                SettingOutcome::Yes => {
                    self.fast_open.on_command(text);
                    self.set_mss();
                    Ok(())
                }
                SettingOutcome::Unsupported(what) => unsupported(what),
            },
            Action::Code(code) => self.code(code),
            Action::Leaves(_) | Action::Unsupported(_) => Ok(()),
        }
    }

    fn code(&self, code: &str) -> Step {
        let Some(connection) = &self.connection else {
            return unsupported("code before there is a connection");
        };
        let stamps = if self.config.timestamps {
            TIMESTAMP_BYTES
        } else {
            0
        };
        let asked = tcp_info::QueryContext {
            now: self.now,
            data_received_at: self.data_received_at,
            offered_mss: self.config.mss + stamps,
            stopwatch: &self.stopwatch,
        };
        let lookup = |name: &str| tcp_info::value(name, &asked, connection);
        match expression::run(code, &lookup) {
            Outcome::Holds => Ok(()),
            Outcome::Fails(what) => Err(Stop::Failed(self.exchange.compare(&what, "", ""))),
            Outcome::Unsupported(what) => unsupported(what),
        }
    }

    /// The first and the last possible instant of an event.
    fn window(&self, time: Time) -> (Instant, Instant) {
        let zero = Instant::ZERO;
        match time {
            Time::Absolute(at) => (zero + at, zero + at),
            Time::Relative(after) => (self.now + after, self.now + after),
            Time::AbsoluteRange(from, to) => (zero + from, zero + to),
            Time::RelativeRange(from, to) => (self.now + from, self.now + to),
            Time::Any => (self.now, Instant::FAR_FUTURE),
        }
    }

    /// Advances time to `until`, with all actions of the connection until then.
    fn advance(&mut self, until: Instant) -> Step {
        if !(self.goes_on)() {
            return Err(Stop::Interrupted);
        }
        while let Some(connection) = &mut self.connection {
            if !(self.goes_on)() {
                return Err(Stop::Interrupted);
            }
            let wakeup = connection.next_wakeup();
            if wakeup > until || wakeup == Instant::FAR_FUTURE {
                break;
            }
            self.now = self.now.max(wakeup);
            connection.on_wakeup(self.now, &mut ());
            self.drain();
            self.settle_blocked()?;
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// Takes the connection's pending segments.
    fn drain(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        loop {
            while let Some(segment) = connection.poll(self.now) {
                self.exchange.push(self.now, '>', &segment);
                self.sent.push_back((self.now, segment));
            }
            if !self.records.next(connection) {
                break;
            }
        }
        self.stopwatch.look(self.now, connection);
    }

    /// Replaces the socket by a new one; the old connection continues unobserved.
    fn renew(&mut self) {
        self.fast_open.on_socket();
        if self.connection.is_none() {
            return;
        }
        self.connection = None;
        self.records = Records::default();
        self.notices = Notices::default();
        self.blocked.clear();
        self.sent.clear();
        self.stamps.clear();
        (self.listening, self.descriptor, self.wanted_mss) = (None, None, None);
        (self.accepted, self.told_of_end, self.corked) = (false, false, false);
        (self.reads_shut, self.writes_shut) = (false, false);
        (self.isn, self.came) = (0, false);
        self.set_mss();
    }

    fn listen(&mut self) {
        self.records = Records::default();
        self.connection = Some(Connection::listen(&self.config, SequenceNumber(0)));
    }

    fn is_established(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            connection.is_open_early()
                || !matches!(
                    connection.state(),
                    State::Listen | State::SynSent | State::SynReceived | State::Closed
                )
        })
    }
}

//! Runs a script against an endpoint in virtual time.

mod calls;
mod epoll;
mod flow;
mod made;
mod messages;
mod packets;
mod reading;
mod setup;
mod sockopt;
mod stack;
mod stop;

use std::collections::{BTreeMap, VecDeque};

use airtcp_endpoint::Settings;
use airtcp_packet::Segment;
use airtcp_tcp::Config;
use airtcp_units::{Duration, Instant};

use crate::Verdict;
use crate::expression::{self, Outcome};
use crate::posix::{Descriptor, Sockets};
use crate::report::Exchange;
use crate::syntax::{Action, Event, Script, Time};
use calls::Blocked;
use flow::{Flow, Path};
use setup::Setup;
use stack::{Effect, Stack};
use stop::{Step, Stop, unsupported};

/// The endpoint under test and the script's view of it.
struct Machine<'a> {
    /// Polled regularly; `false` cancels the run.
    goes_on: &'a dyn Fn() -> bool,
    /// Tolerance between two instants.
    tolerance: Duration,
    sockets: Sockets<Stack>,
    /// Descriptors by the script's numbers.
    descriptors: BTreeMap<i64, Descriptor>,
    path: Path,
    blocked: Vec<Blocked>,
    /// Segments that left and are not yet matched.
    sent: VecDeque<(Instant, Segment)>,
    exchange: Exchange,
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
    let mut setup = Setup::new(config);
    for (name, value, line) in &script.options {
        if let Err(stop) = setup.apply(name, value) {
            return verdict(stop, *line);
        }
    }
    let settings = Settings {
        mtu: setup.mtu,
        ..Settings::new([7; 16])
    };
    let mut machine = Machine {
        goes_on,
        tolerance: setup.tolerance,
        sockets: Sockets::new(Stack::new(setup.config), settings, setup.local),
        descriptors: BTreeMap::new(),
        path: Path::new(setup.local, setup.remote),
        blocked: Vec::new(),
        sent: VecDeque::new(),
        exchange: Exchange::default(),
    };
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
            Action::Command(text) => match self.sockets.system.command(text) {
                Ok(Effect::Forgets) => {
                    self.sockets.endpoint.forget_fast_open_servers();
                    Ok(())
                }
                Ok(Effect::None) => Ok(()),
                Err(what) => unsupported(what),
            },
            Action::Code(code) => self.code(code),
            Action::Leaves(_) | Action::Unsupported(_) => Ok(()),
        }
    }

    fn code(&self, code: &str) -> Step {
        let flow = self.path.flow.as_ref();
        let found = flow.and_then(|flow| self.sockets.between(&flow.ends));
        let Some(info) = found.and_then(|(id, _)| self.sockets.tcp_info(id)) else {
            return unsupported("code before there is a connection");
        };
        match expression::run(code, &|name: &str| info.value(name)) {
            Outcome::Holds => Ok(()),
            Outcome::Fails(what) => Err(Stop::Failed(self.exchange.compare(&what, "", ""))),
            Outcome::Unsupported(what) => unsupported(what),
        }
    }

    const fn now(&self) -> Instant {
        self.sockets.now
    }

    /// The first and the last possible instant of an event.
    fn window(&self, time: Time) -> (Instant, Instant) {
        let zero = Instant::ZERO;
        let now = self.now();
        match time {
            Time::Absolute(at) => (zero + at, zero + at),
            Time::Relative(after) => (now + after, now + after),
            Time::AbsoluteRange(from, to) => (zero + from, zero + to),
            Time::RelativeRange(from, to) => (now + from, now + to),
            Time::Any => (now, Instant::FAR_FUTURE),
        }
    }

    /// The next instant at which something may happen.
    fn next_wakeup(&self) -> Instant {
        let alarms = self.blocked.iter().map(Blocked::alarm);
        let now = self.now();
        let alarm = alarms.filter(|&alarm| alarm > now).min();
        let wakeup = self.sockets.endpoint.next_wakeup();
        alarm.map_or(wakeup, |alarm| alarm.min(wakeup))
    }

    /// Advances time to `until`, with all actions of the endpoint until then.
    fn advance(&mut self, until: Instant) -> Step {
        if !(self.goes_on)() {
            return Err(Stop::Interrupted);
        }
        loop {
            let wakeup = self.next_wakeup();
            if wakeup > until || wakeup == Instant::FAR_FUTURE {
                break;
            }
            if !(self.goes_on)() {
                return Err(Stop::Interrupted);
            }
            self.sockets.now = self.now().max(wakeup);
            self.sockets.endpoint.on_wakeup(self.now());
            self.drain();
            self.settle_blocked()?;
        }
        self.sockets.now = self.now().max(until);
        Ok(())
    }

    /// Takes the endpoint's pending packets: other connections are not observed.
    fn drain(&mut self) {
        let now = self.now();
        let mut packet = Vec::new();
        while self
            .sockets
            .endpoint
            .poll_transmit(now, &mut packet)
            .is_some()
        {
            let flow = self.path.flow.as_mut();
            if let Some(segment) = flow.and_then(|flow| flow.leaving(&packet)) {
                self.exchange.push(now, '>', &segment);
                self.sent.push_back((now, segment));
            }
        }
        self.sockets.look();
        if let Some(flow) = &mut self.path.flow
            && let Some((_, connection)) = self.sockets.between(&flow.ends)
        {
            flow.is_open |= connection.is_synchronized();
        }
    }

    /// Observes the connection of `descriptor`, unless another one is observed.
    fn observe(&mut self, descriptor: Descriptor) {
        if self.path.flow.is_none()
            && let Ok(id) = self.sockets.connection(descriptor)
            && let Some(ends) = self.sockets.endpoint.tuple(id)
        {
            self.path.flow = Some(Flow::new(ends));
        }
    }
}

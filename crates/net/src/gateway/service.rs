//! The gateway's round: packets, timers, signals, questions.

use std::fs;
use std::io::Write;
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;

use airtcp_units::{Duration, Instant, Probability};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{ClockId, clock_gettime};
use tracing::{error, info, warn};

use super::asks::{self, Ask, Asks};
use super::configuration::Settings;
use super::course::Course;
use super::guard::{Duty, Guard};
use super::inline::open_bridge;
use super::meter::Meter;
use super::notify::Manager;
use super::options::Serve;
use super::report::Report;
use super::rules::{Rules, Wanted, Writer};
use super::sighting::{FlowKeys, read_headers};
use super::signals::{Signals, Wish};
use super::tap::{LATENCY_MS, Tap};
use super::watchdog::{LATE, Pulse, Watchdog};
use crate::emulate::clock::{self, Clock};
use crate::error::{Error, Result, Tried};
use crate::namespace;

/// A round takes no longer than this even when nothing happens.
const ROUND: Duration = Duration::from_millis(125);
/// How often the guard hears that all is well, and how often a device that is gone is looked for.
const BEAT: Duration = Duration::from_millis(500);
/// Another gateway has taken over: packets that still come are those that were in the queue then.
const DRAINED: Duration = Duration::from_millis(100);

/// Runs a gateway until it is told to end.
///
/// # Errors
/// The configuration is wrong, or the system forbids what is needed.
pub fn run(options: &Serve) -> Result<i32> {
    let settings = Settings::new(options)?;
    if options.check {
        return Ok(0);
    }
    // Logs go where a service's logs go; a second subscriber in one process changes nothing.
    let _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_target(false)
        .without_time()
        .try_init();
    let signals = Signals::take()?;
    let mut gateway = Gateway::begin(options.clone(), settings)?;
    let status = gateway.serve(&signals);
    gateway.end()?;
    status
}

/// What stands in the system because of this gateway, and is removed with it.
#[derive(Debug)]
struct Standing {
    guard: Guard,
    rules: Option<Rules>,
    _watchdog: Option<Watchdog>,
}

/// What has something to say. Only that is asked: a packet costs no system call but its own.
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    signals: bool,
    asks: bool,
    tap_failed: bool,
}

/// A gateway that runs.
#[derive(Debug)]
struct Gateway {
    options: Serve,
    settings: Settings,
    clock: Clock,
    course: Course,
    meter: Meter,
    keys: FlowKeys,
    tap: Option<Tap>,
    pulse: Arc<Pulse>,
    standing: Option<Standing>,
    asks: Asks,
    manager: Manager,
    successor: Option<Child>,
    /// When the guard and the service manager are told next that all is well.
    beat: Instant,
    /// The latest time of what was seen: it does not run backwards.
    seen: Instant,
    /// Since when another gateway has the packets, and how many had come by then.
    draining: Option<(Instant, u64)>,
    unseen: u64,
    reloads: u64,
}

impl Gateway {
    /// Everything in its place, and packets led to it last.
    fn begin(options: Serve, settings: Settings) -> Result<Self> {
        let cookie = namespace::cookie()?;
        let path = asks::socket_path(&options.state, cookie, &settings.mobile);
        let before = asks::ask(&path, "status")?;
        if before.is_some() && !options.take_over {
            return Err(
                Error::new(format!("a gateway runs on {} already", settings.mobile))
                    .remedied_by("end it, or take its place without a gap by --take-over"),
            );
        }
        let asks = Asks::listen(path.clone(), settings.listen, settings.file.clone())?;
        let clock = Clock::start();
        let tap = Tap::new(&settings.mobile, clock.now())?;
        let mut gateway = Self {
            clock,
            course: Course::new(&settings)?,
            meter: Meter::new(settings.flows, settings.timer_floor),
            keys: keys(&settings),
            tap: Some(tap),
            pulse: Arc::default(),
            standing: None,
            asks,
            manager: Manager::new(),
            successor: None,
            beat: Instant::ZERO,
            seen: Instant::ZERO,
            draining: None,
            unseen: 0,
            reloads: 0,
            settings,
            options,
        };
        gateway.standing = gateway.lead(before.as_deref().and_then(writer_of))?;
        if before.is_some() {
            asks::ask(&path, "drain")?;
        }
        gateway.asks.take_name()?;
        let process = std::process::id();
        gateway.manager.say(&format!("READY=1\nMAINPID={process}"));
        info!(
            agents = gateway.settings.chain.names().join("+"),
            mobile = gateway.settings.mobile,
            wired = gateway.settings.wired,
            course = gateway.course.name(),
            share = gateway.settings.share.map(Probability::as_f64),
            "the gateway runs"
        );
        Ok(gateway)
    }

    /// Leads packets to the agents, by rules in place of those of a gateway before.
    fn lead(&self, before: Option<Writer>) -> Result<Option<Standing>> {
        let Course::Queue(apply) = &self.course else {
            let settings = &self.settings;
            let join = Duty::Join(settings.mobile.clone(), settings.wired.clone());
            return match self.course {
                Course::Inline(_) => Ok(Some(Standing {
                    guard: Guard::start(&join)?,
                    rules: None,
                    _watchdog: None,
                })),
                Course::Look(_) | Course::Queue(_) => Ok(None),
            };
        };
        let wanted = Wanted::new(&self.settings, apply.queues().numbers())?;
        let rules = Rules::write(wanted, self.settings.rules, before)?;
        let started = Guard::start(&Duty::Rules(rules.clone())).and_then(|guard| {
            let rescuer = apply.queues().rescuer()?;
            let pulse = Arc::clone(&self.pulse);
            pulse.beat(self.clock.now().as_nanos(), 0);
            let late = self.settings.late;
            let watchdog = Watchdog::start(pulse, self.clock, late, rescuer, rules.clone())?;
            Ok((guard, watchdog))
        });
        match started {
            Ok((guard, watchdog)) => Ok(Some(Standing {
                guard,
                rules: Some(rules),
                _watchdog: Some(watchdog),
            })),
            Err(error) => {
                rules.remove();
                Err(error)
            }
        }
    }

    /// Goes round until somebody wants it to end. Returns the status.
    fn serve(&mut self, signals: &Signals) -> Result<i32> {
        clock::wake_in_time();
        loop {
            let now = self.clock.now();
            self.pulse.beat(now.as_nanos(), self.course.packets());
            let late = self.course.oldest_deadline();
            if late.is_some_and(|deadline| now - deadline > self.settings.late) {
                error!("packets were held longer than they may be: everything is released");
                return Ok(LATE);
            }
            let more = self.course.turn(self.clock, &self.keys, &self.meter)?;
            self.course.wake(self.clock)?;
            self.look();
            self.course.hear();
            if now >= self.beat {
                self.tell_that_all_is_well(now);
            }
            let ready = self.wait(signals, more)?;
            if ready.tap_failed {
                self.give_tap_up();
            }
            while ready.signals
                && let Some(wish) = signals.next()
            {
                match wish {
                    Wish::End => return Ok(0),
                    Wish::Reload => self.reload(),
                    Wish::Renew => self.renew(),
                }
            }
            while ready.asks
                && let Some(ask) = self.asks.next()
            {
                match ask {
                    // Who asked may be gone meanwhile.
                    Ask::Report(to) => drop(to.send(Box::new(self.report()))),
                    Ask::Drain => self.drain(),
                }
            }
            if self.is_drained() {
                return Ok(0);
            }
        }
    }

    /// Waits until something is there or due; where there are `more` packets, only asks what is
    /// there.
    fn wait(&self, signals: &Signals, more: bool) -> Result<Ready> {
        let now = self.clock.now();
        let until = self.course.next_wakeup().min(now + ROUND);
        let timeout = clock::wait(now, if more { now } else { until });
        let mut waited = vec![
            PollFd::new(signals, PollFlags::IN),
            PollFd::new(&self.asks, PollFlags::IN),
        ];
        for descriptor in self.course.descriptors() {
            waited.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        }
        let tap = waited.len();
        waited.extend(self.tap.iter().map(|tap| PollFd::new(tap, PollFlags::IN)));
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) => {
                let found: Vec<_> = waited.iter().map(PollFd::revents).collect();
                Ok(Ready {
                    signals: !found[0].is_empty(),
                    asks: !found[1].is_empty(),
                    tap_failed: found.get(tap).is_some_and(|it| it.contains(PollFlags::ERR)),
                })
            }
            Err(rustix::io::Errno::INTR) => Ok(Ready::default()),
            Err(cause) => Err(cause).tried(|| "cannot wait for packets".to_owned()),
        }
    }

    /// Shows what has passed to the meter, and to agents that only look.
    fn look(&mut self) {
        let Some(tap) = &mut self.tap else {
            return;
        };
        // Packets carry the system's time, everything else here the monotonic one.
        let apart = since_1970().saturating_sub(self.clock.now().as_nanos());
        let Self {
            meter,
            keys,
            course,
            seen,
            ..
        } = self;
        tap.look(|passed| {
            let Ok(sighting) = read_headers(passed.bytes, passed.toward) else {
                return;
            };
            let time = Instant::from_nanos(passed.nanos.saturating_sub(apart));
            *seen = time.max(*seen);
            let key = keys.key(&sighting.ends);
            meter.see(*seen, key, &sighting, passed.stands_for, || {
                keys.is_treated(&sighting.ends)
            });
            course.saw(*seen, key, &sighting, passed.sender, meter);
        });
    }

    /// The device is gone or down: it is looked for again with every beat.
    fn give_tap_up(&mut self) {
        if let Some(tap) = self.tap.take()
            && let Err(cause) = tap.error()
        {
            warn!(%cause, device = self.settings.mobile, "the device cannot be looked at");
        }
    }

    fn tell_that_all_is_well(&mut self, now: Instant) {
        // A service manager is told twice as often as it wants to hear at the latest.
        let wanted = self.manager.watchdog.map_or(BEAT, |often| often / 2);
        self.beat = now + BEAT.min(wanted);
        if let Some(standing) = &mut self.standing {
            standing.guard.beat();
        }
        if self.manager.watchdog.is_some() {
            self.manager.say("WATCHDOG=1");
        }
        self.course.look_after_devices();
        match &mut self.tap {
            Some(tap) => {
                self.unseen = tap.looked().missed;
                if !self.course.needs_every_packet() {
                    tap.sample(now);
                }
            }
            None => {
                self.tap = Tap::new(&self.settings.mobile, now).ok();
                if self.tap.is_some() {
                    info!(device = self.settings.mobile, "the device is there again");
                }
            }
        }
        if let Some(successor) = &mut self.successor
            && let Ok(Some(status)) = successor.try_wait()
            && self.draining.is_none()
        {
            warn!(%status, "the new process has ended; this one goes on");
            self.successor = None;
        }
    }

    /// Reads the configuration again: all of it counts, or nothing.
    fn reload(&mut self) {
        let usec = clock_gettime(ClockId::Monotonic);
        let usec = usec.tv_sec * 1_000_000 + usec.tv_nsec / 1000;
        self.manager
            .say(&format!("RELOADING=1\nMONOTONIC_USEC={usec}"));
        match self.take_settings() {
            Ok(()) => {
                self.reloads += 1;
                info!("the configuration was read again");
            }
            Err(error) => warn!(%error, "the configuration is refused, and the old one stays"),
        }
        self.manager.say("READY=1");
    }

    fn take_settings(&mut self) -> Result<()> {
        let settings = Settings::new(&self.options)?;
        if !self.settings.keeps_packets_where_they_are(&settings) {
            return Err(Error::new(
                "devices, mode, queue, rules, flows, inline, metrics and what agents see change \
                 with a new process only",
            )
            .remedied_by("send SIGUSR2, or start one with --take-over"));
        }
        self.course.reload(&settings, self.clock.now())?;
        self.keys = self.keys.clone().with(settings.seed, share(&settings));
        self.settings = settings;
        Ok(())
    }

    /// Restarts the program; it takes over by itself.
    fn renew(&mut self) {
        if self.successor.is_some() {
            return;
        }
        let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
        if !self.options.take_over {
            arguments.push("--take-over".into());
        }
        let started = std::env::current_exe().and_then(|program| {
            // A program that was replaced on the disk is followed by the new one.
            let program = program
                .to_string_lossy()
                .trim_end_matches(" (deleted)")
                .to_owned();
            Command::new(program).args(arguments).spawn()
        });
        match started {
            Ok(successor) => self.successor = Some(successor),
            Err(cause) => warn!(%cause, "no new process can be started"),
        }
    }

    /// Another gateway has the packets from now on.
    fn drain(&mut self) {
        self.asks.give_name_away();
        self.course.follow();
        self.draining = Some((self.clock.now(), self.course.packets()));
        if let Some(mut standing) = self.standing.take() {
            // The rules are the other's.
            standing.rules = None;
            standing.guard.dismiss();
        }
        info!("another gateway has taken over");
    }

    /// Whether nothing is left to be let go.
    fn is_drained(&mut self) -> bool {
        let Some((since, packets)) = self.draining else {
            return false;
        };
        let (now, came) = (self.clock.now(), self.course.packets());
        if came != packets {
            self.draining = Some((now, came));
            return false;
        }
        self.course.holding() == 0 && now - since > DRAINED
    }

    fn report(&self) -> Report {
        let (packets, bytes) = self.meter.passed();
        let [control, treated] = self.meter.groups();
        let standing = self.standing.as_ref();
        let rules = standing.and_then(|standing| standing.rules.as_ref());
        let micros = |share: f64| {
            let late = self.course.lateness().map(|late| late.quantile(share));
            late.map_or(0.0, |late| late.as_secs_f64() * 1e6)
        };
        Report {
            process: std::process::id(),
            agents: self.settings.chain.names().to_vec(),
            mobile: self.settings.mobile.clone(),
            wired: self.settings.wired.clone(),
            share: self.settings.share.map(Probability::as_f64),
            course: self.course.name(),
            rules: rules.map(Rules::writer),
            queues: match &self.course {
                Course::Queue(apply) => apply.queues().numbers().map(|(_, queue)| queue).collect(),
                Course::Look(_) | Course::Inline(_) => Vec::new(),
            },
            seconds: (self.clock.now() - Instant::ZERO).as_secs_f64(),
            packets,
            bytes,
            unseen: self.unseen,
            connections: self.meter.connections(),
            holding: self.course.holding(),
            did: self.course.counts(),
            unread: self.course.unread(),
            late_us: [0.5, 0.99, 1.0].map(micros),
            rules_rewritten: self.pulse.rewritten(),
            reloads: self.reloads,
            control: control.numbers(),
            treated: treated.numbers(),
            difference: treated.beside(&control),
            failed_attempts: self.course.failed_attempts(),
            expected: self.course.expected(),
        }
    }

    /// Carries frames until the kernel's bridge does. For a moment both do: what comes twice TCP
    /// tells apart, and what comes to nobody it has to wait for.
    fn hand_to_bridge(&mut self) -> Result<()> {
        let (mobile, wired) = (self.settings.mobile.clone(), self.settings.wired.clone());
        thread::scope(|scope| {
            let bridge = scope.spawn(|| open_bridge(&mobile, &wired));
            while !bridge.is_finished() {
                let carried = self.course.turn(self.clock, &self.keys, &self.meter);
                self.course.release(self.clock.now());
                if carried.is_err() {
                    break;
                }
                thread::sleep(std::time::Duration::from_micros(200));
            }
            let failed = || Error::new("the thread that makes the bridge has ended");
            bridge.join().map_err(|_| failed())?
        })
    }

    /// Everything is let go, and what stood in the system because of this gateway is removed.
    fn end(mut self) -> Result<()> {
        if self.draining.is_none() {
            // Of one that was followed the service manager would take it for the service's end.
            self.manager.say("STOPPING=1");
        }
        let rules = self.report().rules;
        if let Some(Standing {
            guard,
            rules,
            _watchdog: watchdog,
        }) = self.standing.take()
        {
            // Nobody writes the rules again while they are being removed.
            drop(watchdog);
            if let Some(rules) = rules {
                // An acknowledgment that is let go is answered at once: nothing that comes behind
                // it may wait in a queue that ends, and what waits must not go with a rule's hook.
                rules.close();
                self.course.release(self.clock.now());
                rules.remove();
            } else {
                self.hand_to_bridge()?;
            }
            guard.dismiss();
        }
        self.course.release(self.clock.now());
        // What passed until now is seen when its block is handed over.
        thread::sleep(std::time::Duration::from_millis(u64::from(2 * LATENCY_MS)));
        self.look();
        let report = Report {
            rules,
            ..self.report()
        };
        match self.options.report.as_deref() {
            None => eprint!("{report}"),
            Some(path) => {
                let text = serde_json::to_string(&report)
                    .map_err(|error| Error::new(format!("cannot write the report: {error}")))?;
                if path.as_os_str() == "-" {
                    writeln!(std::io::stdout(), "{text}")
                } else {
                    fs::write(path, text + "\n")
                }
                .tried(|| format!("cannot write {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// Which program has written the rules of the gateway that gave this answer.
fn writer_of(status: &str) -> Option<Writer> {
    let status: serde_json::Value = serde_json::from_str(status).ok()?;
    Writer::named(status["report"]["rules"].as_str()?)
}

fn share(settings: &Settings) -> Probability {
    settings.share.unwrap_or(Probability::NEVER)
}

fn keys(settings: &Settings) -> FlowKeys {
    FlowKeys::new(settings.seed, share(settings))
}

/// The system's clock, in nanoseconds since the start of 1970.
fn since_1970() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

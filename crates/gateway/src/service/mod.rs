//! The gateway's main loop: packets, timers, signals, requests.

mod confinement;
pub mod guard;
mod handover;
mod installed;
mod reporting;
mod watchdog;

use std::sync::Arc;
use std::thread;

use airtcp_host::clock;
use airtcp_host::clock::{Clock, since_1970};
use airtcp_host::daemon::readiness::Manager;
use airtcp_host::daemon::signals::{Signal, Signals};
use airtcp_host::daemon::status::{Outlets, Request, Requests, STATUS};
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::namespace;
use airtcp_host::nftables::QueueBy;
use airtcp_units::{Duration, Instant, Probability};
use rustix::event::{PollFd, PollFlags, poll};
use tracing::{error, info, warn};

use crate::configuration::Settings;
use crate::control::control_socket;
use crate::control::control_socket::ControlSocket;
use crate::control::report::{DRAIN, Report};
use crate::datapath::Datapath;
use crate::datapath::inline::open_bridge;
use crate::meter::Meter;
use crate::options::{Serve, ShareBy};
use crate::packets::packet_view::{FlowKeys, read_headers};
use crate::rules::{offload, queue_by_of};
use crate::sockets::tap::{LATENCY_MS, Tap};
use handover::Handover;
use installed::Installed;
use watchdog::{LATE, Pulse};

/// The exit status of a gateway that has ended because the treated are slower.
const WORSE: i32 = 4;
/// Interval between searches for offloads, which may be enabled at any time.
const SEARCH: Duration = Duration::from_secs(10);
/// Maximum duration of a round without events.
const ROUND: Duration = Duration::from_millis(125);
/// Interval of the reports to the guard, and of checks for a vanished device.
const BEAT: Duration = Duration::from_millis(500);
/// Runs a gateway until it is asked to end.
///
/// # Errors
/// The configuration is wrong, or a necessary permission is missing.
pub fn run(options: &Serve) -> Result<i32> {
    let settings = Settings::new(options)?;
    if options.check {
        return Ok(0);
    }
    // Logs go to the service's log; a second subscriber in the same process has no effect.
    let _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_target(false)
        .without_time()
        .try_init();
    let signals = Signals::take(&[Signal::TERM, Signal::INT, Signal::HUP, Signal::USR2])?;
    // Before other processes are started and the first packet is read. A successor gets this from
    // the inherited limit.
    let _ = clock::wake_in_time();
    confinement::keep_only_what_is_needed(options, &settings)?;
    let mut gateway = Gateway::begin(options.clone(), settings)?;
    let status = gateway.serve(&signals);
    gateway.end()?;
    status
}

/// The ready descriptors. Only these are read: a packet costs no other system call than its read.
#[derive(Clone, Copy, Debug, Default)]
struct Readiness {
    signals: bool,
    requests: bool,
    tap_failed: bool,
}

/// A running gateway.
#[derive(Debug)]
struct Gateway {
    options: Serve,
    settings: Settings,
    clock: Clock,
    datapath: Datapath,
    meter: Meter,
    keys: FlowKeys,
    tap: Option<Tap>,
    pulse: Arc<Pulse>,
    installed: Option<Installed>,
    socket: ControlSocket,
    requests: Requests,
    manager: Manager,
    handover: Handover,
    /// Time of the next report to the guard and the service manager.
    beat: Instant,
    /// The latest time of a packet seen: it is monotonic.
    seen: Instant,
    unseen: u64,
    reloads: u64,
    /// Offloads that bypass every rule, and the time of the next search.
    offloads: Vec<String>,
    search: Instant,
}

impl Gateway {
    /// Sets everything up, and steers packets to it last.
    fn begin(options: Serve, settings: Settings) -> Result<Self> {
        let cookie = namespace::cookie()?;
        let path = control_socket::socket_path(&options.state, cookie, &settings.mobile);
        let before = control_socket::ask(&path, STATUS)?;
        if before.is_some() && !options.take_over {
            return Err(
                Error::new(format!("a gateway runs on {} already", settings.mobile))
                    .remedied_by("end it, or take its place without a gap by --take-over"),
            );
        }
        let (socket, listener) = ControlSocket::listen(path.clone())?;
        let requests = Requests::serve(Outlets {
            socket: listener,
            prometheus: settings.listen,
            file: settings.file.clone(),
            orders: &[DRAIN],
        })?;
        let clock = Clock::start();
        let tap = Tap::new(&settings.mobile, clock.now())?;
        let mut gateway = Self {
            clock,
            datapath: Datapath::new(&settings)?,
            meter: Meter::new(settings.flows, settings.timer_floor),
            keys: keys(&settings),
            tap: Some(tap),
            pulse: Arc::default(),
            installed: None,
            socket,
            requests,
            manager: Manager::from_environment(),
            handover: Handover::default(),
            beat: Instant::ZERO,
            seen: Instant::ZERO,
            unseen: 0,
            reloads: 0,
            offloads: Vec::new(),
            search: Instant::ZERO,
            settings,
            options,
        };
        gateway.installed = Installed::lead(
            &gateway.settings,
            &gateway.datapath,
            (&gateway.pulse, clock),
            before.as_deref().and_then(queue_by),
        )?;
        if before.is_some() {
            control_socket::ask(&path, DRAIN)?;
        }
        gateway.socket.take_name()?;
        gateway.manager.ready();
        info!(
            agents = gateway.settings.chain.names().join("+"),
            mobile = gateway.settings.mobile,
            wired = gateway.settings.wired,
            course = gateway.datapath.name(),
            share = gateway.settings.share.map(Probability::as_f64),
            "the gateway runs"
        );
        Ok(gateway)
    }

    /// Runs the main loop until the gateway should end. Returns the status.
    fn serve(&mut self, signals: &Signals) -> Result<i32> {
        loop {
            let now = self.clock.now();
            self.pulse.beat(now.as_nanos(), self.datapath.packets());
            let late = self.datapath.oldest_deadline();
            if late.is_some_and(|deadline| now - deadline > self.settings.late) {
                error!("packets were held longer than they may be: everything is released");
                return Ok(LATE);
            }
            let more = self.datapath.turn(self.clock, &self.keys, &self.meter)?;
            self.datapath.wake(self.clock)?;
            self.look();
            self.datapath.hear();
            if now >= self.beat {
                self.tell_that_all_is_well(now);
            }
            if self.settings.stop_if_worse && self.meter.evidence().is_enough() {
                let goodput = self.meter.compare().by_connection.goodput;
                error!(
                    goodput = goodput.map(|found| found.difference),
                    "the treated connections are slower than the others, with 95 %: the gateway ends"
                );
                return Ok(WORSE);
            }
            let ready = self.wait(signals, more)?;
            if ready.tap_failed {
                self.give_tap_up();
            }
            while ready.signals
                && let Some(signal) = signals.next()
            {
                match signal {
                    Signal::HUP => self.reload(),
                    Signal::USR2 => self.handover.start(),
                    _ => return Ok(0),
                }
            }
            while ready.requests
                && let Some(request) = self.requests.next()
            {
                match request {
                    // The client may be gone meanwhile.
                    Request::Status(to) => drop(to.send(Box::new(self.report()))),
                    Request::Order(_) => self.drain(),
                }
            }
            let (came, holding) = (self.datapath.packets(), self.datapath.holding());
            if self.handover.is_complete(self.clock.now(), came, holding) {
                return Ok(0);
            }
        }
    }

    /// Waits until something is ready or due; with `more` packets pending, only polls.
    fn wait(&self, signals: &Signals, more: bool) -> Result<Readiness> {
        let now = self.clock.now();
        let until = self.datapath.next_wakeup().min(now + ROUND);
        let timeout = clock::wait(now, if more { now } else { until });
        let mut waited = vec![
            PollFd::new(signals, PollFlags::IN),
            PollFd::new(&self.requests, PollFlags::IN),
        ];
        for descriptor in self.datapath.descriptors() {
            waited.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        }
        let tap = waited.len();
        waited.extend(self.tap.iter().map(|tap| PollFd::new(tap, PollFlags::IN)));
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) => {
                let found: Vec<_> = waited.iter().map(PollFd::revents).collect();
                Ok(Readiness {
                    signals: !found[0].is_empty(),
                    requests: !found[1].is_empty(),
                    tap_failed: found.get(tap).is_some_and(|it| it.contains(PollFlags::ERR)),
                })
            }
            Err(rustix::io::Errno::INTR) => Ok(Readiness::default()),
            Err(cause) => Err(cause).tried(|| "cannot wait for packets".to_owned()),
        }
    }

    /// Passes observed packets to the meter, and to agents that only observe.
    fn look(&mut self) {
        let Some(tap) = &mut self.tap else {
            return;
        };
        // Packets carry the system clock's time, everything else uses the monotonic clock.
        let apart = since_1970().saturating_sub(self.clock.now().as_nanos());
        let Self {
            meter,
            keys,
            datapath,
            seen,
            ..
        } = self;
        tap.look(|passed| {
            let Ok(packet) = read_headers(passed.bytes, passed.toward) else {
                return;
            };
            let time = Instant::from_nanos(passed.nanos.saturating_sub(apart));
            *seen = time.max(*seen);
            let key = keys.key(&packet.ends);
            let assign = || keys.assign(&packet.ends);
            meter.see(*seen, key, &packet, passed.stands_for, assign);
            datapath.saw(*seen, key, &packet, passed.sender, meter);
        });
    }

    /// Closes the tap: the device is gone or down; it is retried with every beat.
    fn give_tap_up(&mut self) {
        if let Some(tap) = self.tap.take()
            && let Err(cause) = tap.error()
        {
            warn!(%cause, device = self.settings.mobile, "the device cannot be looked at");
        }
    }

    fn tell_that_all_is_well(&mut self, now: Instant) {
        // A service manager is notified at least twice per watchdog interval.
        let wanted = self.manager.watchdog.map_or(BEAT, |often| often / 2);
        self.beat = now + BEAT.min(wanted);
        if let Some(installed) = &mut self.installed {
            installed.beat();
        }
        self.manager.beat();
        self.datapath.look_after_devices();
        if now >= self.search {
            self.search = now + SEARCH;
            self.find_offloads();
        }
        match &mut self.tap {
            Some(tap) => {
                self.unseen = tap.looked().missed;
                if !self.datapath.needs_every_packet() {
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
        self.handover.look_after_successor();
    }

    /// Searches for offloads, and reports new ones.
    fn find_offloads(&mut self) {
        let found = offload::find(&self.settings.mobile, &self.settings.wired);
        for offload in &found {
            if !self.offloads.contains(offload) {
                warn!("{offload}");
            }
        }
        self.offloads = found;
    }

    /// Reloads the configuration: all of it, or nothing.
    fn reload(&mut self) {
        self.manager.reloading();
        match self.take_settings() {
            Ok(()) => {
                self.reloads += 1;
                info!("the configuration was read again");
            }
            Err(error) => warn!(%error, "the configuration is refused, and the old one stays"),
        }
        self.manager.ready();
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
        self.datapath.reload(&settings, self.clock.now())?;
        self.keys =
            self.keys
                .clone()
                .with(settings.seed, share(&settings), is_by_station(&settings));
        self.settings = settings;
        Ok(())
    }

    /// Hands the packets over to a successor.
    fn drain(&mut self) {
        self.socket.give_name_away();
        self.datapath.follow();
        self.handover
            .begin(self.clock.now(), self.datapath.packets());
        if let Some(installed) = self.installed.take() {
            installed.leave();
        }
        info!("another gateway has taken over");
    }

    /// Releases everything held; inline forwarding is handed to the kernel's bridge.
    fn let_go(&mut self) -> Result<()> {
        if matches!(self.datapath, Datapath::Inline(_)) {
            return self.hand_to_bridge();
        }
        self.datapath.release(self.clock.now());
        Ok(())
    }

    /// Forwards frames until the kernel's bridge does. For a moment both do: TCP detects
    /// duplicates, whereas lost frames would cost retransmissions.
    fn hand_to_bridge(&mut self) -> Result<()> {
        let (mobile, wired) = (self.settings.mobile.clone(), self.settings.wired.clone());
        thread::scope(|scope| {
            let bridge = scope.spawn(|| open_bridge(&mobile, &wired));
            while !bridge.is_finished() {
                let carried = self.datapath.turn(self.clock, &self.keys, &self.meter);
                self.datapath.release(self.clock.now());
                if carried.is_err() {
                    break;
                }
                thread::sleep(std::time::Duration::from_micros(200));
            }
            let failed = || Error::new("the thread that makes the bridge has ended");
            bridge.join().map_err(|_| failed())?
        })
    }

    /// Releases everything, and removes the gateway's changes to the system.
    fn end(mut self) -> Result<()> {
        if !self.handover.has_begun() {
            // From a gateway with a successor, the service manager would interpret it as the
            // service's end.
            self.manager.stopping();
        }
        let rules = self.report().rules;
        if let Some(installed) = self.installed.take() {
            installed.remove(|| self.let_go())?;
        }
        self.datapath.release(self.clock.now());
        // Packets that have passed are seen when their block is handed over.
        thread::sleep(std::time::Duration::from_millis(u64::from(2 * LATENCY_MS)));
        self.look();
        let report = Report {
            rules,
            ..self.report()
        };
        self.write_report(&report)
    }
}

/// How the rules of the gateway that gave this answer queue packets.
fn queue_by(status: &str) -> Option<QueueBy> {
    let status: serde_json::Value = serde_json::from_str(status).ok()?;
    queue_by_of(status["report"]["rules"].as_str()?)
}

fn share(settings: &Settings) -> Probability {
    settings.share.unwrap_or(Probability::NEVER)
}

fn keys(settings: &Settings) -> FlowKeys {
    FlowKeys::new(settings.seed, share(settings), is_by_station(settings))
}

fn is_by_station(settings: &Settings) -> bool {
    settings.share_by == ShareBy::Station
}

//! A measurement of the kernel's TCP over an emulated link: `airtcp-net measure`, which
//! `airtcp verify` runs once for each remedy and seed.

mod counters;
mod hosts;
mod queue;
mod stack;
mod transfer;
mod under_load;

use std::io::Write;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread::ScopedJoinHandle;

use airtcp_host::bpf::Verdicts;
use airtcp_host::clock::{Clock, since_1970};
use airtcp_host::device::statistics::QueueCounts;
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::lateness::Punctuality;
use airtcp_host::namespace::{Namespace, user};
use airtcp_host::tcp_info::TcpInfo;
use airtcp_network::Network;
use airtcp_scenario::{Scenario, build};
use airtcp_units::{Duration, Instant};
use clap::Args;
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Serialize;

use crate::link::Link;
use crate::link::PLACES;
use crate::link::ends::{Ends, Line};
use crate::link::flows::Flows;
use crate::link::latency::{Latency, Quantiles};
use crate::link::scenario::{self, At, ways};
use crate::record::{Recording, Replay, Summary};
use crate::request::Request;
use hosts::{Hosts, PORT, counted};
use queue::KernelQueue;
use stack::Stack;
use transfer::Times;
use under_load::{Probes, UnderLoad};

/// Measure the kernel's TCP over a scenario's link, once
///
/// Prints one JSON object: goodput, retransmissions, timeouts, undone recoveries, latency measured
/// at the sender and as estimated by it, and the emulator's lateness. `airtcp verify` makes a whole
/// comparison.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    request: Request,
    /// Mean deviation of the link's round trips in milliseconds, for remedies that are a factor of
    /// it
    #[arg(long, value_name = "MS")]
    deviation: Option<f64>,
    /// Use this queueing discipline of the kernel in front of the link, in tc(8) syntax: cake,
    /// "fq_codel limit 100"; the link must be a pipe with a constant rate
    #[arg(long, value_name = "WORDS")]
    discipline: Option<String>,
    /// The same for the other direction of the link, that of the acknowledgments
    #[arg(long, value_name = "WORDS")]
    ack_discipline: Option<String>,
    /// Only print whether this kernel can make the run, and the steps it would take
    #[arg(long)]
    check: bool,
    /// Record all packets and their fate into DIR, like `airtcp emulate --record`
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

/// The result of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// The scenario's name.
    pub scenario: String,
    /// The remedies, in the catalogue's notation.
    pub remedies: String,
    /// The seed of the channel.
    pub seed: u64,
    /// The congestion control of the senders.
    pub congestion_control: String,
    /// The steps by which the remedies were deployed, as a user would perform them.
    pub steps: Vec<String>,
    /// The nearest equivalents used in place of a remedy, if any.
    pub instead: Vec<String>,
    /// The kernel's queueing discipline before the link, if the link's queue was not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<String>,
    /// Counters of that discipline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<QueueCounts>,
    /// Counters of the discipline before the link's other direction, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_counted: Option<QueueCounts>,
    /// Measurements of the probes of `flows.under_load`, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_load: Option<UnderLoad>,
    /// Mean of the shortest 95 % of the load's round trips in milliseconds, if probes ran under
    /// load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_rtt_ms: Option<f64>,
    /// Bits per second that arrived at the receivers, each byte counted once, over all flows and
    /// the scenario's duration.
    pub goodput_bps: f64,
    /// The same for each flow.
    pub flow_goodput_bps: Vec<f64>,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Tail loss probes.
    pub tail_probes: u64,
    /// Repairs that the kernel undid because they were needless.
    pub undos: u64,
    /// Losses by their number and the verdict of a congestion control that classifies them.
    pub verdicts: Vec<Verdicts>,
    /// Latency of data packets, measured at the sender.
    #[serde(flatten)]
    pub latency: Quantiles,
    /// The kernel senders' smoothed round trip at the end, mean over the connections, in
    /// milliseconds.
    pub srtt_ms: f64,
    /// Its mean deviation, in milliseconds.
    pub rttvar_ms: f64,
    /// The minimum round trip estimated by a sender, in milliseconds; null without a connection.
    pub sender_min_rtt_ms: Option<f64>,
    /// Lateness of departing packets.
    #[serde(flatten)]
    pub punctuality: Punctuality,
    /// The measured kernel.
    pub kernel: String,
}

/// Measures, and prints the result. Returns the exit status.
///
/// # Errors
///
/// The scenario is refused or is not a bulk transfer, a remedy is unavailable on this kernel, or
/// the system does not allow something needed.
pub fn run(options: &Options) -> Result<i32> {
    let asked = MeasurementPlan::new(options)?;
    if options.check {
        if asked.stack.object.is_some() {
            // Its verifier has the last word on a control that is not ours: a refusal would come
            // only after the runs of the baseline.
            asked.stack.registered()?;
        }
        return print(&asked.stack);
    }
    print(&asked.measure(options.record.as_deref())?)
}

fn print(value: &impl Serialize) -> Result<i32> {
    let text = serde_json::to_string(value)
        .map_err(|error| Error::new(format!("cannot write the result: {error}")))?;
    writeln!(std::io::stdout(), "{text}").tried(|| "cannot write the result".to_owned())?;
    Ok(0)
}

/// A measurement supported by this kernel.
struct MeasurementPlan {
    scenario: Scenario,
    stack: Stack,
    /// The kernel's queue before the link, if the link's is not used.
    queue: Option<KernelQueue>,
    /// The same for acknowledgments.
    ack_queue: Option<KernelQueue>,
    probes: Option<Probes>,
    seed: u64,
    mtu: u16,
}

impl MeasurementPlan {
    fn new(options: &Options) -> Result<Self> {
        let request = &options.request;
        let plain = request.scenario_without_remedies()?;
        let mut scenario = request.scenario()?;
        let probes = Probes::of(&scenario)?;
        // Real probes replace them.
        scenario.flows.under_load.clear();
        check(&scenario)?;
        let stack = Stack::new(&plain.tcp, &scenario.remedies, options.deviation)?;
        let queue = KernelQueue::of(
            options.discipline.as_deref(),
            &stack,
            &scenario,
            request.mtu,
        )?;
        let ack_queue =
            KernelQueue::of_acks(options.ack_discipline.as_deref(), &scenario, request.mtu)?;
        Ok(Self {
            stack,
            queue,
            ack_queue,
            probes,
            scenario,
            seed: request.seed,
            mtu: request.mtu,
        })
    }

    fn measure(self, record: Option<&Path>) -> Result<Measurement> {
        let ways = ways(&self.scenario, self.seed, At::measured(&self.scenario))?;
        let stations = ways.len();
        let mut stack = self.stack.clone();
        for (file, value) in &stack.module_parameters {
            std::fs::write(file, value).tried(|| format!("cannot set {}", file.display()))?;
        }
        let registered = self.stack.registered()?;
        if let Some((name, _)) = &registered {
            stack.congestion_control.clone_from(name);
        }
        user::become_root_of_own_namespaces()?;
        let ends = Ends::new(ways.len(), self.mtu)?;
        let layout = build(&self.scenario, self.seed);
        let recording = record
            .map(|folder| Recording::begin(folder, stations, PLACES, since_1970()))
            .transpose()?;
        let network = recording.is_some().then(|| layout.network.clone());
        let starts: Vec<Instant> = layout.flows.iter().map(|flow| flow.start).collect();
        let hosts: Vec<Hosts> = ways
            .iter()
            .enumerate()
            .map(|(station, way)| Hosts::new(&ends, station, way))
            .collect();
        for (station, hosts) in hosts.iter().enumerate() {
            hosts.prepare(&ends, station, &stack, [&self.queue, &self.ack_queue])?;
        }
        let before = counted(&hosts)?;
        let end = Instant::ZERO + self.scenario.duration;
        let mut link = Link::new(
            Network::new(layout.network, self.seed),
            Flows::new(ways),
            ends.station_devices,
            ends.server_devices,
            PLACES,
            Clock::start(),
        )
        .measured(PORT, end);
        if let Some(recording) = recording {
            link = link.recorded(recording);
        }
        let probes = self.probes.as_ref();
        let (transfers, under_load) = carry(&mut link, &hosts, &starts, &stack, probes, end)?;
        let queue_counts = self.counts(&hosts)?;
        let after = counted(&hosts)?;
        let counts: Vec<u64> = after
            .iter()
            .zip(before)
            .map(|(after, before)| after - before)
            .collect();
        if let (Some(recording), Some(network)) = (link.take_recording(), network) {
            self.finish(recording, &network, &link)?;
        }
        let verdicts = registered.map_or(Ok(Vec::new()), |(_, control)| control.verdicts())?;
        Ok(self.report(
            &transfers,
            under_load,
            &counts,
            queue_counts,
            verdicts,
            &link,
        ))
    }
}

/// Only the kernel's capabilities are measured: bulk transfers for the scenario's whole duration.
fn check(scenario: &Scenario) -> Result<()> {
    scenario::check(scenario)?;
    if scenario.traffic.iter().any(Option::is_some) || scenario.flows.bytes.is_some() {
        return Err(Error::new(
            "flows: the kernel is measured with bulk transfers that last as long as the scenario; \
             leave out flows.bytes and the applications of [traffic]",
        ));
    }
    if scenario.flows.request.is_some() {
        return Err(Error::new(
            "flows.request: the kernel is measured with connections that the sender of the data \
             opens; leave it out",
        ));
    }
    let count = scenario.flows.count;
    if (0..count).any(|flow| scenario.flows.datagrams_of(flow).is_some()) {
        return Err(Error::new(
            "flows.kind: the kernel is measured with TCP; leave it out, or let programs send what is \
             not TCP (airtcp emulate)",
        ));
    }
    Ok(())
}

/// Runs the transfers while the link carries them. Time begins when all is ready: a link's buffers
/// and a congestion control's module take some 20 ms, in which a trace or a stop would proceed, and
/// which a transfer of a second would miss.
fn carry(
    link: &mut Link,
    hosts: &[Hosts],
    starts: &[Instant],
    stack: &Stack,
    probes: Option<&Probes>,
    end: Instant,
) -> Result<(Vec<Option<TcpInfo>>, Option<UnderLoad>)> {
    let (until, over) = pipe_with(PipeFlags::CLOEXEC).tried(|| "cannot make a pipe".to_owned())?;
    let listeners: Vec<TcpListener> = hosts
        .iter()
        .map(|host| {
            let at = host.to;
            host.receiver
                .enter(move || TcpListener::bind(at).tried(|| format!("cannot listen at {at}")))
        })
        .collect::<Result<_>>()?;
    let stop = AtomicBool::new(false);
    let ready = Barrier::new(2 * hosts.len() + 1);
    let clock = OnceLock::new();
    std::thread::scope(|scope| {
        let (stop, ready, clock) = (&stop, &ready, &clock);
        let transfers: Vec<_> = hosts
            .iter()
            .zip(starts)
            .zip(&listeners)
            .map(|((host, &start), listener)| {
                let begun = move || {
                    ready.wait();
                    let clock = *clock.wait();
                    Times { clock, start, end }
                };
                let receiver = scope.spawn(move || transfer::receive(listener, begun(), stop));
                let sender = scope.spawn(move || {
                    let control = &stack.congestion_control;
                    let socket = host
                        .sender
                        .enter(|| transfer::socket(host.to, control, stack.paced));
                    // Waits after an error as well: the others wait for this thread.
                    let times = begun();
                    transfer::send(socket?, host.to, times, stop)
                });
                (receiver, sender)
            })
            .collect();
        ready.wait();
        let clock = *clock.get_or_init(|| link.begin());
        let probing = probes.map(|probes| {
            let (host, line) = (&hosts[0], Line::of(0));
            // The first flow's mobile runs the probes, as the receiver or the sender of the data.
            let (ends, is_station) = if probes.mobile_receives {
                ([&host.receiver, &host.sender], host.downwards)
            } else {
                ([&host.sender, &host.receiver], !host.downwards)
            };
            let to = if is_station {
                line.server
            } else {
                line.station
            };
            scope.spawn(move || probes.run(ends.map(Arc::as_ref), to, clock, stop))
        });
        // Packets in flight at the end still need the link.
        let carried = link.run(until.as_fd(), |link| {
            link.now() < end + Duration::from_millis(1)
        });
        stop.store(true, Ordering::Relaxed);
        drop(over);
        let results: Result<Vec<Option<TcpInfo>>> = transfers
            .into_iter()
            .map(|(receiver, sender)| {
                let (received, sent) = (joined(receiver)?, joined(sender)?);
                drop(received);
                Ok(sent)
            })
            .collect();
        let under_load = probing.map(joined).transpose();
        carried.and(Ok((results?, under_load?)))
    })
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread
        .join()
        .unwrap_or_else(|_| Err(Error::new("a thread of airtcp-net has panicked")))
}

impl MeasurementPlan {
    /// Counters of the kernel's disciplines before the first flow's link.
    fn counts(&self, hosts: &[Hosts]) -> Result<[Option<QueueCounts>; 2]> {
        let Some(host) = hosts.first() else {
            return Ok([None, None]);
        };
        let [data_device, ack_device] = &host.devices;
        let of = |queue: &Option<KernelQueue>, at: &Namespace, device: &str| {
            let counted = queue
                .as_ref()
                .map(|queue| at.enter(|| queue.counts(device)));
            counted.transpose()
        };
        Ok([
            of(&self.queue, &host.sender, data_device)?,
            of(&self.ack_queue, &host.receiver, ack_device)?,
        ])
    }

    fn finish(
        &self,
        recording: Recording,
        network: &airtcp_network::NetworkConfig,
        link: &Link,
    ) -> Result<()> {
        let end = link.now();
        recording.finish(
            &Replay::of(&self.scenario, network, self.seed, end),
            &Summary::new(
                &self.scenario,
                self.seed,
                (end - Instant::ZERO).as_secs_f64(),
                link.connections(),
                &link.passed(),
                link.lateness(),
            ),
        )
    }

    fn report(
        self,
        transfers: &[Option<TcpInfo>],
        under_load: Option<UnderLoad>,
        counts: &[u64],
        [counted, ack_counted]: [Option<QueueCounts>; 2],
        verdicts: Vec<Verdicts>,
        link: &Link,
    ) -> Measurement {
        let Self {
            scenario,
            stack,
            seed,
            queue,
            ..
        } = self;
        let latency = link.latency();
        let seconds = scenario.duration.as_secs_f64();
        // Data above a gap at the receiver has not been read yet.
        let arrived = |station| {
            link.arrivals()
                .map_or(0, |arrivals| arrivals.bytes(station))
        };
        let flows: Vec<f64> = (0..transfers.len())
            .map(|station| arrived(station) as f64 * 8.0 / seconds)
            .collect();
        let connected: Vec<TcpInfo> = transfers.iter().copied().flatten().collect();
        let mean = |of: fn(&TcpInfo) -> u32| {
            let sum: f64 = connected.iter().map(|info| f64::from(of(info))).sum();
            sum / connected.len().max(1) as f64 / 1e3
        };
        let least = connected.iter().map(|info| info.least_rtt_us).min();
        Measurement {
            scenario: scenario.name.clone(),
            remedies: scenario
                .remedies
                .as_slice()
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("+"),
            seed,
            congestion_control: stack.congestion_control,
            steps: stack.steps,
            instead: stack.instead,
            discipline: queue.map(|queue| queue.to_string()),
            counted,
            ack_counted,
            own_rtt_ms: under_load
                .as_ref()
                .and_then(|_| latency.and_then(Latency::trimmed_mean_ms)),
            goodput_bps: flows.iter().sum(),
            flow_goodput_bps: flows,
            // The counters include all connections there, the probes' too.
            retransmissions: match &under_load {
                Some(_) => connected
                    .iter()
                    .map(|info| u64::from(info.retransmissions))
                    .sum(),
                None => counts[0],
            },
            under_load,
            timeouts: counts[1],
            tail_probes: counts[2],
            undos: counts[3..].iter().sum(),
            verdicts,
            latency: latency.map(Latency::quantiles).unwrap_or_default(),
            srtt_ms: mean(|info| info.srtt_us),
            rttvar_ms: mean(|info| info.rttvar_us),
            sender_min_rtt_ms: least.map(|least_us| f64::from(least_us) / 1e3),
            punctuality: link.lateness().punctuality(),
            kernel: rustix::system::uname()
                .release()
                .to_string_lossy()
                .into_owned(),
        }
    }
}

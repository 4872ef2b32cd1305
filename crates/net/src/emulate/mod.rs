//! A scenario as a real link: `airtcp emulate`.
//!
//! ```text
//!   COMMAND                                                             SERVER COMMAND
//!      │                                                                      │
//!   a station's namespace ── link0 ── the network, in real time ── link0 ── the server's namespace
//! ```

pub mod clock;
pub mod drive;
pub mod ends;
pub mod flows;
pub mod lateness;
mod live;
mod options;
pub mod outcomes;
pub mod packet;
pub mod reports;
pub mod store;
pub mod uplink;

use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;
use std::sync::Arc;

use airtcp_network::Network;
use airtcp_scenario::{FlowDirection, Link as ScenarioLink, Scenario, build};
use airtcp_units::Instant;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::error::{Error, Result, Tried};
use crate::inside::{Program, Running, exit_code};
use crate::namespace::{Namespace, user};
use crate::record::{Recording, Replay, Summary};
use clock::Clock;
use drive::Link;
use ends::{Ends, SERVER_VARIABLE, server_addresses};
use flows::{Flows, Way};
use live::Live;
pub use options::Options;
use reports::Reports;
use uplink::Uplink;

/// Buffers for packets in flight: a second of 1 Gbit/s, or 30 s of 30 Mbit/s.
pub(crate) const PLACES: usize = 1 << 16;

/// Emulates a scenario around a command; returns the command's exit status.
///
/// # Errors
///
/// The scenario is refused, the system does not allow something needed, or a command cannot be
/// started.
pub fn run(options: &Options) -> Result<i32> {
    let request = &options.request;
    let scenario = request.scenario()?;
    check(&scenario)?;
    let ways = ways(&scenario, request.seed);
    user::become_root_of_own_namespaces()?;
    let ends = Ends::new(ways.len(), request.mtu)?;
    let layout = build(&scenario, request.seed);
    let recording = match &options.record {
        Some(folder) => Some(Recording::begin(folder, ways.len(), PLACES, since_1970())?),
        None => None,
    };
    let network = layout.network.clone();
    let mut link = Link::new(
        Network::new(layout.network, request.seed),
        Flows::new(ways),
        ends.station_devices,
        ends.server_devices,
        PLACES,
        Clock::start(),
    )
    .reporting(Reports::new(&ends.stations)?);
    if let Some(recording) = recording {
        link = link.recorded(recording);
    }

    let (until, ended) = pipe_with(PipeFlags::CLOEXEC).tried(|| "cannot make a pipe".to_owned())?;
    let (server, uplink) = far_end(options, &ends.server)?;
    let resolver = uplink.as_ref().and_then(Uplink::resolver);
    let commands = start_commands(options, &ends.stations, resolver, &ended)?;
    // The pipe hangs up when the last command has ended.
    drop(ended);

    let mut live = Live::new(options.quiet);
    let carried = link.run(until.as_fd(), |link| live.show(link));
    live.end();
    carried?;
    let statuses: Vec<ExitStatus> = commands
        .into_iter()
        .map(Running::wait)
        .collect::<Result<_>>()?;
    drop((server, uplink));
    live.summary(&link);
    let status = statuses.into_iter().map(exit_code).max().unwrap_or(0);
    if let Some(recording) = link.take_recording() {
        let end = link.now();
        let replay = Replay::of(&scenario, &network, request.seed, end);
        let summary = Summary::new(
            &scenario,
            request.seed,
            (end - Instant::ZERO).as_secs_f64(),
            link.connections(),
            &link.passed(),
            link.lateness(),
        );
        if let Err(error) = recording.finish(&replay, &summary) {
            eprintln!("airtcp-net: {error}");
            return Ok(status.max(1));
        }
    }
    Ok(status)
}

/// Starts the far end: its command, or an uplink to the machine's network. If the system allows no
/// uplink, the user is told, and the far end only answers for itself.
fn far_end(
    options: &Options,
    server: &Arc<Namespace>,
) -> Result<(Option<Running>, Option<Uplink>)> {
    if let Some(command) = options.server_command() {
        let program = Program {
            command,
            ..Program::default()
        };
        // The end of this command stops nothing: only those of the stations' commands do.
        return Ok((Some(Running::start(server, program, None)?), None));
    }
    match Uplink::start(server, options.request.mtu) {
        Ok(uplink) => Ok((None, Some(uplink))),
        Err(error) => {
            if !options.quiet {
                eprintln!("airtcp-net: {error}");
            }
            Ok((None, None))
        }
    }
}

/// Starts the command of every station; `ended` is closed when the last of them has ended.
fn start_commands(
    options: &Options,
    stations: &[Arc<Namespace>],
    resolver: Option<IpAddr>,
    ended: &OwnedFd,
) -> Result<Vec<Running>> {
    let started = stations.iter().enumerate().map(|(station, namespace)| {
        let ended = ended
            .try_clone()
            .tried(|| "cannot copy a descriptor".to_owned())?;
        let [ipv4, ipv6] = server_addresses(station);
        let program = Program {
            command: options.station_command(),
            environment: vec![
                (SERVER_VARIABLE.to_owned(), ipv4.to_string()),
                ("AIRTCP_SERVER6".to_owned(), ipv6.to_string()),
                ("AIRTCP_STATION".to_owned(), station.to_string()),
            ],
            resolver,
        };
        Running::start(namespace, program, Some(ended))
    });
    started.collect()
}

/// The system clock, in nanoseconds since the start of 1970.
pub(crate) fn since_1970() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// Rejects scenarios that an emulated link does not support.
pub(crate) fn check(scenario: &Scenario) -> Result<()> {
    if scenario.access_point.split_buffer.is_some() {
        return Err(Error::new(
            "split-tcp: an emulated link has no proxy of its own; leave the remedy out",
        ));
    }
    Ok(())
}

/// The path of each station's packets. Over a link without directions the station is the host that
/// sends the scenario's data.
pub(crate) fn ways(scenario: &Scenario, seed: u64) -> Vec<Way> {
    let has_directions = !matches!(scenario.link, ScenarioLink::Pipe { .. });
    build(scenario, seed)
        .flows
        .into_iter()
        .zip(0..)
        .map(|(flow, index)| Way {
            forward: flow.forward,
            reverse: flow.reverse,
            downwards: has_directions && scenario.flows.direction_of(index) == FlowDirection::Down,
        })
        .collect()
}

//! A scenario as a real link: `airtcp emulate`.
//!
//! ```text
//!   COMMAND, at the mobile if there is one                              SERVER COMMAND
//!      │                                                                      │
//!   a station's namespace ── link0 ── the network, in real time ── link0 ── the server's namespace
//! ```

mod control;
mod live;
mod options;

use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;
use std::sync::Arc;

use airtcp_host::clock::{Clock, since_1970};
use airtcp_host::error::{Result, Tried};
use airtcp_host::link_reports::Reports;
use airtcp_host::namespace::{Namespace, user};
use airtcp_network::Network;
use airtcp_scenario::build;
use airtcp_units::Instant;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::inside::{Program, Running, exit_code};
use crate::link::ends::{Ends, SERVER_VARIABLE, server_addresses};
use crate::link::flows::Flows;
use crate::link::scenario::{At, check, ways};
use crate::link::{Link, PLACES};
use crate::record::{Recording, Replay, Summary};
use crate::uplink::Uplink;
use control::OwnControl;
use live::Live;
pub use options::Options;

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
    let at = options.at.unwrap_or_else(|| At::usual(&scenario));
    let ways = ways(&scenario, request.seed, at)?;
    // The kernel takes programs only from the machine's root.
    let own_control = OwnControl::of(&scenario)?;
    user::become_root_of_own_namespaces()?;
    let ends = Ends::new(ways.len(), request.mtu)?;
    if let Some(control) = &own_control {
        for namespace in ends.stations.iter().chain([&ends.server]) {
            control.make_default(namespace)?;
        }
    }
    if !options.quiet {
        for warning in control::warnings(&scenario) {
            eprintln!("airtcp-net: {warning}");
        }
    }
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

    let mut live = Live::new(options.quiet, at.ends());
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
/// uplink, the user is warned, and the far end only answers for itself.
fn far_end(
    options: &Options,
    server: &Arc<Namespace>,
) -> Result<(Option<Running>, Option<Uplink>)> {
    if let Some(command) = options.server_command() {
        let program = Program {
            command,
            ..Program::default()
        };
        // The end of this command stops nothing: only the end of the stations' commands does.
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

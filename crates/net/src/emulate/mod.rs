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
pub mod packet;
pub mod store;

use std::os::fd::AsFd;
use std::process::ExitStatus;

use airtcp_network::Network;
use airtcp_scenario::{FlowDirection, Link as ScenarioLink, Scenario, build};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::error::{Error, Result, Tried};
use crate::inside::{Running, exit_code};
use crate::namespace::user;
use clock::Clock;
use drive::Link;
use ends::{Ends, server_addresses};
use flows::{Flows, Way};
use live::Live;
pub use options::Options;

/// Places for packets under way: a second of 1 Gbit/s, or 30 s of 30 Mbit/s.
pub(crate) const PLACES: usize = 1 << 16;

/// Emulates a scenario around a command; returns the status to exit with, which is the command's.
///
/// # Errors
///
/// The scenario is refused, the system forbids what is needed, or a command cannot be started.
pub fn run(options: &Options) -> Result<i32> {
    let request = &options.request;
    let scenario = request.scenario()?;
    check(&scenario)?;
    let ways = ways(&scenario, request.seed);
    user::become_root_of_own_namespaces()?;
    let ends = Ends::new(ways.len(), request.mtu)?;
    let layout = build(&scenario, request.seed);
    let mut link = Link::new(
        Network::new(layout.network, request.seed),
        Flows::new(ways),
        ends.station_devices,
        ends.server_devices,
        PLACES,
        Clock::start(),
    );

    let (until, ended) = pipe_with(PipeFlags::CLOEXEC).tried(|| "cannot make a pipe".to_owned())?;
    let server = match options.server_command() {
        // Its end stops nothing: only those of the stations' commands do.
        Some(command) => Some(Running::start(&ends.server, &command, &[], None)?),
        None => None,
    };
    let commands: Vec<Running> = ends
        .stations
        .iter()
        .enumerate()
        .map(|(station, namespace)| {
            let ended = ended
                .try_clone()
                .tried(|| "cannot copy a descriptor".to_owned())?;
            let [ipv4, ipv6] = server_addresses(station);
            let environment = [
                ("AIRTCP_SERVER".to_owned(), ipv4.to_string()),
                ("AIRTCP_SERVER6".to_owned(), ipv6.to_string()),
                ("AIRTCP_STATION".to_owned(), station.to_string()),
            ];
            Running::start(
                namespace,
                &options.station_command(),
                &environment,
                Some(ended),
            )
        })
        .collect::<Result<_>>()?;
    // The pipe hangs up when the last command has ended.
    drop(ended);

    let mut live = Live::new(options.quiet);
    let carried = link.run(until.as_fd(), |now, passed, lateness| {
        live.show(now, passed, lateness)
    });
    live.end();
    carried?;
    let statuses: Vec<ExitStatus> = commands
        .into_iter()
        .map(Running::wait)
        .collect::<Result<_>>()?;
    drop(server);
    live.summary(&link);
    Ok(statuses.into_iter().map(exit_code).max().unwrap_or(0))
}

/// What an emulated link cannot have.
pub(crate) fn check(scenario: &Scenario) -> Result<()> {
    if scenario.access_point.split_buffer.is_some() {
        return Err(Error::new(
            "split-tcp: an emulated link has no proxy of its own; leave the remedy out",
        ));
    }
    Ok(())
}

/// The way of each station's packets. Over a link without directions the station is the host that
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

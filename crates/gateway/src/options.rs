//! The command line of `airtcp gateway`.

use std::path::PathBuf;

use airtcp_units::Probability;
use clap::{Args, Subcommand, ValueEnum};
use serde::Deserialize;

/// The directory of the gateways' sockets.
const STATE: &str = "/run/airtcp";

/// Run an access point's remedies on a router's real packets
///
/// AGENT is a remedy of the access point, as in `airtcp compare --remedy`: delay-injection,
/// static-delay, random-delay, snoop, wtcp, dynamic-arq; ebsn only observes. Without --apply
/// traffic is not changed: the gateway observes packets and counts the actions it would take. With
/// --apply --share 20% a fifth of the connections is treated and the rest is the control group;
/// with --apply, all are; --stop-if-worse stops the gateway once treated connections are slower. On
/// any failure packets still pass. SIGHUP reloads --config; SIGUSR2 restarts without a gap.
///
/// Example: airtcp gateway delay-injection --mobile wlan0 --wired eth0
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    pub(super) action: Option<Action>,
    #[command(flatten)]
    pub(super) serve: Serve,
}

/// The subcommands.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Action {
    /// Show running gateways and their results
    Status(Status),
}

/// The options of `status`.
#[derive(Args, Clone, Debug)]
pub struct Status {
    /// As JSON, one object a gateway
    #[arg(long)]
    pub json: bool,
    /// Directory of the gateways' sockets
    #[arg(long, value_name = "DIR", default_value = STATE)]
    pub state: PathBuf,
}

/// A gateway's options. They override the configuration file.
#[derive(Args, Clone, Debug, Default)]
pub struct Serve {
    /// Remedies of the access point, in the order in which packets from the mobiles meet them
    #[arg(value_name = "AGENT")]
    pub agents: Vec<String>,
    /// The device towards the mobiles
    #[arg(long, value_name = "DEVICE")]
    pub mobile: Option<String>,
    /// The device towards the wired network
    #[arg(long, value_name = "DEVICE")]
    pub wired: Option<String>,
    /// Only observe and count (the default)
    #[arg(long, conflicts_with = "apply")]
    pub observe: bool,
    /// Treat connections
    #[arg(long)]
    pub apply: bool,
    /// With --apply: treat this share of the connections, by their addresses and ports; the others
    /// are the control group
    #[arg(long, value_name = "SHARE", requires = "apply", value_parser = share)]
    pub share: Option<Probability>,
    /// With --share: the unit of assignment: each connection, or all connections of a station, by
    /// its address. [default: connection]
    #[arg(long, value_name = "UNIT", requires = "share")]
    pub share_by: Option<ShareBy>,
    /// Stop when treated connections are slower at 95 % confidence (anytime-valid); exits with
    /// status 4
    #[arg(long)]
    pub stop_if_worse: bool,
    /// Forward packets between the two devices in user space, for kernels without a packet queue.
    /// The devices must have no addresses; on exit they are joined by a kernel bridge
    #[arg(long)]
    pub inline: bool,
    /// Further settings: a TOML file, reloaded on SIGHUP
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Write the counts as JSON into FILE on exit; - for standard output
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Take over from the gateway running on these devices, without a gap
    #[arg(long)]
    pub take_over: bool,
    /// Directory of the gateways' sockets
    #[arg(long, value_name = "DIR", default_value = STATE)]
    pub state: PathBuf,
    /// Only check the configuration
    #[arg(long)]
    pub check: bool,
}

/// The unit that is treated or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum ShareBy {
    /// A connection
    #[default]
    Connection,
    /// A station: all connections of a mobile's address
    Station,
}

/// A share as users write it: `20%`, `20 %` or `0.2`.
fn share(text: &str) -> Result<Probability, String> {
    let spaced = text.trim().replace('%', " %");
    spaced
        .parse()
        .map_err(|_| "expected a share between 0 and 1, such as 20% or 0.2".to_owned())
}

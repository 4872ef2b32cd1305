//! The command line of `airtcp emulate`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::link::scenario::At;
use crate::request::Request;

/// Run a command over a scenario's link, with real packets
///
/// COMMAND runs in a separate network namespace connected only by the link: at the mobile where the
/// link has one (802.11, ARQ, a cell, a cellular trace), else at the host that sends the scenario's
/// data, or at the end given by --at. $AIRTCP_SERVER (IPv4) and $AIRTCP_SERVER6 are the addresses
/// of the other end, where the command of --server runs; without --server the other end reaches the
/// machine's network by slirp4netns or pasta, if installed, else as root by address translation on
/// a machine that forwards. With several flows in the scenario COMMAND runs once per flow, each at
/// its station ($AIRTCP_STATION). Needs no root.
///
/// Example: airtcp emulate wlan-upload.toml --server 'iperf3 -s' -- sh -c 'iperf3 -c
/// $AIRTCP_SERVER'
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The link.
    #[command(flatten)]
    pub request: Request,
    /// A command for the far end of the link, run by sh
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,
    /// The end of the link at which COMMAND runs
    #[arg(long, value_name = "END")]
    pub at: Option<At>,
    /// Record all packets and their fate into DIR: stations.pcapng and server.pcapng,
    /// packets.csv, scenario.toml (the scenario with lost packets and stops as lists, ready to
    /// run), summary.json
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// No live line and no summary on the terminal
    #[arg(long, short)]
    pub quiet: bool,
    /// Command to run over the link; a shell by default
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl Options {
    /// The command of every station.
    pub fn station_command(&self) -> Vec<OsString> {
        if self.command.is_empty() {
            vec![std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())]
        } else {
            self.command.clone()
        }
    }

    /// The command of the far end.
    pub fn server_command(&self) -> Option<Vec<OsString>> {
        self.server
            .as_ref()
            .map(|text| vec!["/bin/sh".into(), "-c".into(), text.into()])
    }
}

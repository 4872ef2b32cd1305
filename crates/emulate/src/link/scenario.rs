//! A scenario as an emulated link: whether it is supported, the command's end, and its stations'
//! paths.

use airtcp_host::error::{Error, Result};
use airtcp_scenario::{Link as ScenarioLink, Scenario, build};
use clap::ValueEnum;

use super::flows::Way;

/// The end of the link at which the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum At {
    /// The mobile of a link that has one: 802.11, ARQ, a cell, a cellular trace
    Mobile,
    /// The host that sends the scenario's data
    Sender,
    /// The host that receives it
    Receiver,
}

impl At {
    /// The default end of the command: the mobile, or the data sender on a link without a mobile.
    pub fn usual(scenario: &Scenario) -> Self {
        if scenario.mobile_receives(0).is_some() {
            Self::Mobile
        } else {
            Self::Sender
        }
    }

    /// The end at which this kernel's sender is measured: the mobile of a medium, or the data
    /// sender on every pipe.
    pub fn measured(scenario: &Scenario) -> Self {
        if matches!(scenario.link, ScenarioLink::Pipe { .. }) {
            Self::Sender
        } else {
            Self::Mobile
        }
    }

    /// The names of both ends: the command's, and the other.
    pub const fn ends(self) -> [&'static str; 2] {
        match self {
            Self::Mobile => ["mobile", "server"],
            Self::Sender => ["sender", "receiver"],
            Self::Receiver => ["receiver", "sender"],
        }
    }
}

/// Rejects scenarios that an emulated link does not support.
///
/// # Errors
///
/// The scenario contains a proxy.
pub fn check(scenario: &Scenario) -> Result<()> {
    if scenario.access_point.split_buffer.is_some() {
        return Err(Error::new(
            "split-tcp: an emulated link has no proxy of its own; leave the remedy out",
        ));
    }
    Ok(())
}

/// The path of each station's packets, with the stations at this end of the link.
///
/// # Errors
///
/// The link has no mobile, but the stations should be there.
pub fn ways(scenario: &Scenario, seed: u64, at: At) -> Result<Vec<Way>> {
    build(scenario, seed)
        .flows
        .into_iter()
        .zip(0..)
        .map(|(flow, index)| {
            let downwards = match at {
                At::Sender => false,
                At::Receiver => true,
                At::Mobile => scenario.mobile_receives(index).ok_or_else(|| {
                    Error::new(
                        "--at mobile: this link is a pipe without a mobile; expected sender or \
                         receiver",
                    )
                })?,
            };
            Ok(Way {
                forward: flow.forward,
                reverse: flow.reverse,
                downwards,
            })
        })
        .collect()
}

//! A scenario in terms of an emulated link: whether it can be one, where the command runs, and its
//! stations' paths.

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
    /// Where the command runs unless something else is asked for: at the mobile, and at the data's
    /// sender on a link without a mobile.
    pub fn usual(scenario: &Scenario) -> Self {
        if scenario.mobile_receives(0).is_some() {
            Self::Mobile
        } else {
            Self::Sender
        }
    }

    /// Where this kernel's sender is measured: at the mobile of a medium, and at the data's sender
    /// on every pipe.
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
/// The scenario has a proxy of its own.
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
/// The link has no mobile, and the stations are to be there.
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

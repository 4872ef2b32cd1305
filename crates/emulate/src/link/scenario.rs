//! A scenario in terms of an emulated link: whether it can be one, and its stations' paths.

use airtcp_host::error::{Error, Result};
use airtcp_scenario::{FlowDirection, Link as ScenarioLink, Scenario, build};

use super::flows::Way;

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

/// The path of each station's packets. Over a link without directions the station is the host that
/// sends the scenario's data.
pub fn ways(scenario: &Scenario, seed: u64) -> Vec<Way> {
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

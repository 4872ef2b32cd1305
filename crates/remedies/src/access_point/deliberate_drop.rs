//! Duplicate acknowledgments provoked on purpose, in place of timeouts.

use airtcp_link::agent::AgentConfig;
use airtcp_link::agent::deliberate_drop::DropConfig;
use airtcp_units::Probability;

use crate::{Changes, Deployment, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "deliberate-drop",
    place: Place::AccessPoint,
    effect: "drops a share of the data on purpose, so that duplicate acknowledgments halve the \
             window where a needless timeout would set it to one segment",
    source: "Miyim, Techniques for Throughput Enhancement in Wireless Networks, §V (a sentence; \
             which packets are dropped is not said)",
    parameters: &[
        Parameter::number(
            "share",
            "%",
            5.0,
            (0.0, 50.0),
            "chance of a segment with new data to be dropped; §V finds more throughput with 5 % \
             of losses than without",
        ),
        Parameter::count(
            "outstanding",
            "segments",
            4,
            (0, 1_000_000),
            "how many other segments must be outstanding, so that three duplicates can follow and \
             the loss is no timeout itself",
        ),
    ],
    deployment: Deployment::none(
        "No way: airtcp's gateway loses nothing, and tc-netem(8) also drops retransmissions, and \
         segments of connections with too few outstanding, so that timers expire.",
    ),
    decides: "which data is dropped on purpose",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    // Its bounds keep it a probability.
    let share = Probability::new(values.number("share") / 100.0).unwrap_or(Probability::NEVER);
    let drop = DropConfig::new(share, values.count("outstanding"));
    changes.install(AgentConfig::Drop(drop));
}

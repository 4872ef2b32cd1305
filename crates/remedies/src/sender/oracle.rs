//! The truth about every loss.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "oracle",
    place: Place::Sender,
    effect: "as newzag, but knows what every loss is of; no real sender can",
    source: "a bound for the others, none of the papers has it",
    parameters: &[],
    deployment: Deployment::none("Only a simulator knows why a packet was lost."),
    decides: "how a loss is classified",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::Oracle);
}

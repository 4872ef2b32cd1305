//! The truth about every loss.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "oracle",
    place: Place::Sender,
    effect: "like newzag, but knows the true cause of each loss (simulation only)",
    source: "a bound for the others, none of the papers has it",
    parameters: &[],
    deployment: Deployment::none("Only a simulator knows why a packet was lost."),
    decides: "how a loss is classified",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::Oracle);
}

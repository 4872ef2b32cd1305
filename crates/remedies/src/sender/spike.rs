//! A loss outside a spike of the round trip is random.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "spike",
    place: Place::Sender,
    effect: "as newzag, but a loss is congestion where the round trip is in a spike",
    source: "Tobe et al., LCN 2000; Cen, Cosman & Voelker §III.A",
    parameters: &[],
    deployment: Deployment::none(
        "Linux has none ready-made: it takes a congestion control in BPF or as a module.",
    ),
    decides: "how a loss is classified",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::Spike);
}

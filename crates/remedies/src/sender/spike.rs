//! A loss outside a spike of the round trip is random.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "spike",
    place: Place::Sender,
    effect: "like newzag, but classifies a loss as congestion during a round-trip spike",
    source: "Tobe et al., LCN 2000; Cen, Cosman & Voelker §III.A",
    parameters: &[],
    deployment: Deployment::none(
        "Not in Linux: it needs a congestion control in BPF or a kernel module.",
    ),
    decides: "how a loss is classified",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::Spike);
}

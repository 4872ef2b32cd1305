//! ZigZag, mBiaz or Spike, as the path asks for.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "zbs",
    place: Place::Sender,
    effect: "like newzag, switching between zigzag, mbiaz and spike by the state of the path",
    source: "Cen, Cosman & Voelker §V",
    parameters: &[],
    deployment: Deployment::none(
        "Not in Linux: it needs a congestion control in BPF or a kernel module.",
    ),
    decides: "how a loss is classified",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::Zbs);
}

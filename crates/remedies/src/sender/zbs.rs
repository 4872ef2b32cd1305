//! ZigZag, mBiaz or Spike, as the path asks for.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "zbs",
    place: Place::Sender,
    effect: "as newzag, with whichever of zigzag, mbiaz and spike suits the path",
    source: "Cen, Cosman & Voelker §V",
    parameters: &[],
    deployment: Deployment::none(
        "Linux has none ready-made: it takes a congestion control in BPF or as a module.",
    ),
    decides: "how a loss is classified",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::Zbs);
}

//! A loss that leaves the time between arrivals as it was is random.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "mbiaz",
    place: Place::Sender,
    effect: "like newzag, but classifies a loss as random when the arrival gap equals the missing \
             segments' transmission time",
    source: "Biaz & Vaidya, ASSET 1999; Cen, Cosman & Voelker §III.B",
    parameters: &[],
    deployment: Deployment::none(
        "Not in Linux: it needs a congestion control in BPF or a kernel module.",
    ),
    decides: "how a loss is classified",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::MBiaz);
}

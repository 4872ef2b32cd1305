//! A loss that leaves the time between arrivals as it was is random.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "mbiaz",
    place: Place::Sender,
    effect: "as newzag, but a loss is random where the gap is what the lost segments would have \
             taken",
    source: "Biaz & Vaidya, ASSET 1999; Cen, Cosman & Voelker §III.B",
    parameters: &[],
    deployment: Deployment::none(
        "Linux has none ready-made: it takes a congestion control in BPF or as a module.",
    ),
    decides: "how a loss is classified",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::MBiaz);
}

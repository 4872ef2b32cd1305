//! The classifier that NewZag comes from.

use airtcp_tcp::loss_differentiation::{Differentiation, ZigZagTable};

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "zigzag",
    place: Place::Sender,
    effect: "like newzag, with the thresholds of ZigZag",
    source: "Cen, Cosman & Voelker, End-to-end differentiation of congestion and wireless losses, \
             ToN 11(5), 2003, §III.C",
    parameters: &[Parameter {
        name: "strict",
        unit: "",
        default: Quantity::Count(0),
        minimum: Quantity::Count(0),
        maximum: Quantity::Count(1),
        effect: "1 for the published variant in which three losses must come with as short a \
                 round trip as one",
    }],
    deployment: Deployment::none(
        "Not in Linux: it needs a congestion control in BPF or a kernel module.",
    ),
    decides: "how a loss is classified",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.sack = true;
    let table = if values.is_on("strict") {
        ZigZagTable::STRICT
    } else {
        ZigZagTable::CEN
    };
    changes.tcp.differentiation = Some(Differentiation::ZigZag(table));
}

//! Telling the sender what arrived twice.

use crate::{Changes, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "dsack",
    place: Place::Receiver,
    effect: "reports data that arrived twice, so that the sender can know a resend was needless; \
             brings SACK with it",
    source: "RFC 2883",
    parameters: &[Parameter {
        name: "on",
        unit: "",
        default: Quantity::Count(1),
        minimum: Quantity::Count(0),
        maximum: Quantity::Count(1),
        effect: "1: on, and SACK with it; 0: off",
    }],
    deployment: "Linux: sysctl net.ipv4.tcp_dsack=1 on the receiver (the default), with \
                 net.ipv4.tcp_sack=1 on both ends.",
    decides: "reports of duplicates",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.dsack = values.is_on("on");
    // RFC 2883 §4: the report is a SACK block.
    changes.tcp.sack |= changes.tcp.dsack;
}

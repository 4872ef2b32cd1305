//! How many duplicate acknowledgments mean a loss.

use crate::{Changes, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "dupack-threshold",
    place: Place::Sender,
    effect: "waits for more duplicate acknowledgments before it takes a segment for lost: for \
             links that reorder",
    source: "RFC 5681 §3.2 (3); RFC 4653",
    parameters: &[Parameter {
        name: "segments",
        unit: "",
        default: Quantity::Count(6),
        minimum: Quantity::Count(1),
        maximum: Quantity::Count(1000),
        effect: "duplicate acknowledgments that mean a loss",
    }],
    deployment: "Linux: sysctl net.ipv4.tcp_reordering=6 (the start; it adapts upwards to \
                 net.ipv4.tcp_max_reordering), or ip route change ROUTE reordering 6. RACK, on by \
                 default, decides by time instead: sysctl net.ipv4.tcp_recovery=0 turns it off.",
    decides: "the duplicate-acknowledgment threshold",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.duplicate_ack_threshold = values.count("segments");
}

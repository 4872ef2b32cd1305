//! A ceiling on the congestion window.

use crate::{Changes, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "max-window",
    place: Place::Sender,
    effect: "never has more than so many segments in flight: keeps a deep queue from filling",
    source: "RFC 5681 §3.1 leaves it to the sender; ns-2's window_",
    parameters: &[Parameter {
        name: "segments",
        unit: "segments",
        default: Quantity::Count(64),
        minimum: Quantity::Count(1),
        maximum: Quantity::Count(1_000_000),
        effect: "upper bound of the congestion window",
    }],
    deployment: "Linux: ip route change ROUTE cwnd lock 64; or a small send buffer on the socket \
                 (SO_SNDBUF).",
    decides: "the largest window",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.max_window = Some(values.count("segments"));
}

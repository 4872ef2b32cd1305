//! A ceiling on the congestion window.

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "max-window",
    place: Place::Sender,
    effect: "limits the segments in flight: keeps a deep queue from filling",
    source: "RFC 5681 §3.1 leaves it to the sender; ns-2's window_",
    parameters: &[Parameter {
        name: "segments",
        unit: "segments",
        default: Quantity::Count(64),
        minimum: Quantity::Count(1),
        maximum: Quantity::Count(1_000_000),
        effect: "upper bound of the congestion window",
    }],
    deployment: Deployment::none(
        "No setting of Linux bounds the window of a connection: the route attribute cwnd lock is \
         read only for destinations that are remembered from earlier connections, and a receiver's \
         clamp (the attribute window, TCP_WINDOW_CLAMP) of 20 segments lets twice as many be in \
         flight. A small send buffer (SO_SNDBUF) comes near.",
    ),
    decides: "the largest window",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.max_window = Some(values.count("segments"));
}

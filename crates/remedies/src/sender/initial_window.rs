//! How much is sent before the first acknowledgment.

use crate::{Changes, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "initial-window",
    place: Place::Sender,
    effect: "starts with a window of so many segments",
    source: "RFC 6928 (10); RFC 5681 §3.1 (2 to 4)",
    parameters: &[Parameter {
        name: "segments",
        unit: "segments",
        default: Quantity::Count(10),
        minimum: Quantity::Count(1),
        maximum: Quantity::Count(1000),
        effect: "congestion window at the start",
    }],
    deployment: "Linux: ip route change ROUTE initcwnd 10 (10 is the default); the peer's window \
                 must allow it: ip route change ROUTE initrwnd 10 there.",
    decides: "the initial window",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.initial_window = values.count("segments");
}

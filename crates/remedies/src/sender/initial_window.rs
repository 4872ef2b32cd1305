//! The congestion window before the first acknowledgment.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "initial-window",
    place: Place::Sender,
    effect: "sets the initial congestion window, in segments",
    source: "RFC 6928 (10); RFC 5681 §3.1 (2 to 4)",
    parameters: &[Parameter {
        name: "segments",
        unit: "segments",
        default: Quantity::Count(10),
        minimum: Quantity::Count(1),
        maximum: Quantity::Count(1000),
        effect: "congestion window at the start",
    }],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::route("initcwnd", Setting::Parameter("segments"))],
    )])
    .noting(
        "Ten is the default. The peer's window must allow it: there, ip route change ROUTE \
         initrwnd with the same value.",
    ),
    decides: "the initial window",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.initial_window = values.count("segments");
}

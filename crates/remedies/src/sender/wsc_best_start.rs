//! A first window from sessions past.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "wsc-best-start",
    place: Place::Sender,
    effect: "starts with the final window of past sessions with the same peer; airtcp run \
             --sessions FILE reads and updates it",
    source: "Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.3; RFC 6928 \
             for the usual ten",
    parameters: &[Parameter {
        name: "window",
        unit: "segments",
        default: Quantity::Count(30),
        minimum: Quantity::Count(1),
        maximum: Quantity::Count(1000000),
        effect: "steady window of past sessions",
    }],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::route("initcwnd", Setting::Parameter("window"))],
    )])
    .noting("Add a route for this peer only."),
    decides: "the initial window",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.initial_window = values.count("window");
}

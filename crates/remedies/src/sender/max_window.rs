//! A ceiling on the congestion window.

use crate::deployment::{At, Setting, Step, Way};
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
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::RouteAttribute {
            name: "cwnd",
            value: Setting::Parameter("segments"),
            locked: true,
        }],
    )])
    .noting("A small send buffer on the socket (SO_SNDBUF) comes to the same."),
    decides: "the largest window",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.max_window = Some(values.count("segments"));
}

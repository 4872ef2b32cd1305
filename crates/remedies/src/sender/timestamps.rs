//! Timestamps on every segment.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "timestamps",
    place: Place::Sender,
    effect: "adds a timestamp to every segment, so that retransmissions give round trips too; \
             costs 12 bytes per segment",
    source: "RFC 7323 §3 and §4",
    parameters: &[Parameter {
        name: "on",
        unit: "",
        default: Quantity::Count(1),
        minimum: Quantity::Count(0),
        maximum: Quantity::Count(1),
        effect: "1: offered; 0: not offered",
    }],
    deployment: Deployment::by(&[Way::new(
        At::BothEnds,
        &[Step::sysctl(
            "net.ipv4.tcp_timestamps",
            Setting::Parameter("on"),
        )],
    )])
    .noting("1 is the default."),
    decides: "timestamps",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.timestamps = values.is_on("on");
}

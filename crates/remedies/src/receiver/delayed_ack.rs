//! Frequency of the receiver's acknowledgments.

use airtcp_units::Duration;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "delayed-ack",
    place: Place::Receiver,
    effect: "acknowledges every n-th segment, or after a time",
    source: "RFC 1122 §4.2.3.2, RFC 5681 §4.2",
    parameters: &[
        Parameter {
            name: "segments",
            unit: "segments",
            default: Quantity::Count(1),
            minimum: Quantity::Count(1),
            maximum: Quantity::Count(1000),
            effect: "full segments until an acknowledgment goes out; 1 acknowledges each, 2 is \
                     the standard's",
        },
        Parameter {
            name: "timeout",
            unit: "",
            default: Quantity::Time(Duration::from_millis(40)),
            minimum: Quantity::Time(Duration::from_millis(1)),
            maximum: Quantity::Time(Duration::from_millis(500)),
            effect: "the longest an acknowledgment waits (RFC 1122: below 500 ms)",
        },
    ],
    deployment: Deployment::by(&[Way::new(
        At::Receiver,
        &[Step::route("quickack", Setting::Fixed("1"))],
    )
    .instead("an acknowledgment for each segment, whatever the parameters say")])
    .noting(
        "A program can set TCP_QUICKACK on its socket, after each read. The 40 ms are compiled \
         in; a sock_ops BPF program can lower the longest wait with TCP_BPF_DELACK_MAX.",
    ),
    decides: "when the receiver acknowledges",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.delayed_ack.segments = values.count("segments");
    changes.tcp.delayed_ack.timeout = values.time("timeout");
}

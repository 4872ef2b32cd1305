//! Frequency of the receiver's acknowledgments.

use airtcp_units::Duration;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "delayed-ack",
    place: Place::Receiver,
    effect: "acknowledges every n-th segment, or after a delay",
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
    deployment: Deployment::by(&[
        Way::new(
            At::Receiver,
            &[Step::route("quickack", Setting::Fixed("1"))],
        )
        .when("segments", 1),
        Way::new(At::Receiver, &[])
            .instead("with a wait of 40 ms, whatever the timeout is")
            .when("segments", 2),
    ])
    .noting(
        "No setting of Linux has more than two segments acknowledged together. A program can set \
         TCP_QUICKACK on its socket, after each read. The 40 ms are compiled in; a sock_ops BPF \
         program can lower the longest wait with TCP_BPF_DELACK_MAX.",
    ),
    decides: "when the receiver acknowledges",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let ack = &mut changes.tcp.delayed_ack;
    ack.segments = values.count("segments");
    ack.timeout = values.time("timeout");
    // Otherwise each train that is read would be acknowledged, however few its segments are (a
    // train ends with a pushed one), and each segment while the window grows.
    ack.on_reading = false;
    ack.on_growth = false;
}

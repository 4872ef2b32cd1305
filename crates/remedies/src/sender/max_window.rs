//! A ceiling on the congestion window.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

use super::LARGEST_WINDOW;

pub(crate) const REMEDY: Remedy = Remedy {
    name: "max-window",
    place: Place::Sender,
    effect: "caps the segments in flight, which keeps a deep queue from filling",
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
        &[Step::sysctl(
            "net.ipv4.tcp_wmem",
            Setting::BufferSizes {
                first: 16_384,
                parameter: "segments",
                unit: 1448,
            },
        )],
    )
    .instead(
        "a send buffer of as many full segments, which a blocked writer fills again once a third \
         of it is free",
    )])
    .noting(
        "No setting of Linux bounds the congestion window itself: the route attribute cwnd lock is \
         read only for destinations that are remembered from earlier connections, and a receiver's \
         clamp (the attribute window, TCP_WINDOW_CLAMP) of 20 segments lets twice as many be in \
         flight.",
    ),
    decides: LARGEST_WINDOW,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.max_window = Some(values.count("segments"));
}

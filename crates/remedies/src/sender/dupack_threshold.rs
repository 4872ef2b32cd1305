//! Number of duplicate acknowledgments that mean a loss.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "dupack-threshold",
    place: Place::Sender,
    effect: "raises the number of duplicate acknowledgments that count as a loss: for links that \
             reorder",
    source: "RFC 5681 §3.2 (3); RFC 4653",
    parameters: &[Parameter {
        name: "segments",
        unit: "",
        default: Quantity::Count(6),
        minimum: Quantity::Count(1),
        maximum: Quantity::Count(1000),
        effect: "duplicate acknowledgments that mean a loss",
    }],
    deployment: Deployment::by(&[
        Way::new(
            At::Sender,
            &[
                Step::sysctl("net.ipv4.tcp_reordering", Setting::Parameter("segments")),
                Step::fixed_sysctl("net.ipv4.tcp_recovery", "0"),
            ],
        ),
        Way::new(
            At::Sender,
            &[
                Step::route("reordering", Setting::Parameter("segments")),
                Step::fixed_sysctl("net.ipv4.tcp_recovery", "0"),
            ],
        ),
    ])
    .noting(
        "This is where the threshold begins; it adapts upwards to net.ipv4.tcp_max_reordering. \
         RACK, the default, decides by time instead and is off here.",
    ),
    decides: "the duplicate-acknowledgment threshold",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.duplicate_ack_threshold = values.count("segments");
}

//! Reporting duplicate segments to the sender.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "dsack",
    place: Place::Receiver,
    effect: "reports duplicate arrivals, so that the sender can detect needless retransmissions; \
             implies SACK",
    source: "RFC 2883",
    parameters: &[Parameter {
        name: "on",
        unit: "",
        default: Quantity::Count(1),
        minimum: Quantity::Count(0),
        maximum: Quantity::Count(1),
        effect: "1: on, and SACK with it; 0: off",
    }],
    deployment: Deployment::by(&[Way::new(
        At::BothEnds,
        &[
            Step::sysctl("net.ipv4.tcp_dsack", Setting::Parameter("on")),
            Step::fixed_sysctl("net.ipv4.tcp_sack", "1"),
        ],
    )])
    .noting("1 is the default."),
    decides: "reports of duplicates",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.dsack = values.is_on("on");
    // RFC 2883 §4: the report is a SACK block.
    changes.tcp.sack |= changes.tcp.dsack;
}

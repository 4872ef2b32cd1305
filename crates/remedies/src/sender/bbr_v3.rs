//! A model of the path that losses bound.

use airtcp_tcp::config::CongestionControl;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

/// The kernels that have it.
const PATCHED: &str =
    "kernels from its authors' tree (google/bbr, branch v3) or with their patch (XanMod)";

pub(crate) const REMEDY: Remedy = Remedy {
    name: "bbr-v3",
    place: Place::Sender,
    effect: "paces at the measured bandwidth and backs off once more than 2 % is lost",
    source: "draft-ietf-ccwg-bbr",
    parameters: &[],
    deployment: Deployment::by(&[
        Way::new(At::Sender, &[Step::CongestionControl { name: "bbr3" }]).only_in(PATCHED),
        Way::new(At::Sender, &[Step::CongestionControl { name: "bbr" }])
            .only_in(PATCHED)
            .with_module("tcp_bbr", "3"),
    ])
    .noting(
        "Linux itself has version 1. Which version a kernel's bbr is, the module says once it is \
         loaded: /sys/module/tcp_bbr/version.",
    ),
    decides: "how large the congestion window is",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::BbrV3;
}

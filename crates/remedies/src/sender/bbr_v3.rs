//! A model of the path that losses bound.

use airtcp_tcp::config::CongestionControl;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "bbr-v3",
    place: Place::Sender,
    effect: "paces at the bandwidth it measures, and keeps below what has lost more than 2 %",
    source: "draft-ietf-ccwg-bbr",
    parameters: &[],
    deployment: Deployment::none("Linux has it only in its authors' tree (google/bbr, branch v3)."),
    decides: "how large the congestion window is",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::BbrV3;
}

//! The timeout as Linux computes it.

use airtcp_tcp::config::RttEstimation;

use crate::deployment::Way;
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "linux-rto",
    place: Place::Sender,
    effect: "computes the timeout as Linux does: smoothed round trip plus the largest recent \
             deviation, at least 200 ms",
    source: "Sarolahti & Kuznetsov, Congestion control in Linux TCP, USENIX 2002, §4.1; Linux, \
             tcp_rtt_estimator",
    parameters: &[],
    deployment: Deployment::by(&[Way::BY_ITSELF]),
    decides: "how round trips become a timeout",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.timeout.estimation = RttEstimation::Linux;
}

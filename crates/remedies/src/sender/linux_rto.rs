//! The timeout as Linux computes it.

use airtcp_tcp::config::RttEstimation;

use crate::deployment::Way;
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "linux-rto",
    place: Place::Sender,
    effect: "waits the smoothed round trip and the largest deviation of a round trip, 200 ms at \
             least",
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

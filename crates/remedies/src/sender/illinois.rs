//! A window whose growth and reductions follow the queue's delay.

use airtcp_tcp::config::CongestionControl;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "illinois",
    place: Place::Sender,
    effect: "grows fast and backs off little while queueing delay is low; grows slowly and halves \
             the window when it is high",
    source: "Liu, Başar & Srikant, TCP-Illinois, Performance Evaluation 65, 2008; Linux, \
             tcp_illinois.c",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::CongestionControl { name: "illinois" }],
    )])
    .noting("It is a module in most distributions: modprobe tcp_illinois."),
    decides: "how large the congestion window is",
    apply,
};

fn apply(_values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Illinois;
}

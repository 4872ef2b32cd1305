//! A model of the path in place of losses.

use airtcp_tcp::config::CongestionControl;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "bbr",
    place: Place::Sender,
    effect: "paces at the measured bandwidth and does not treat loss as congestion",
    source: "Cardwell, Cheng, Gunn, Yeganeh & Jacobson, BBR, ACM Queue 14(5), 2016; Linux, \
             tcp_bbr.c",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::CongestionControl { name: "bbr" }],
    )])
    .noting("It is a module in most distributions: modprobe tcp_bbr."),
    decides: "how large the congestion window is",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Bbr;
}

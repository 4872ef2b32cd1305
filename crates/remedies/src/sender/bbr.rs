//! A model of the path in place of losses.

use airtcp_tcp::config::CongestionControl;

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "bbr",
    place: Place::Sender,
    effect: "paces at the bandwidth it measures and takes no loss for congestion",
    source: "Cardwell, Cheng, Gunn, Yeganeh & Jacobson, BBR, ACM Queue 14(5), 2016; Linux, \
             tcp_bbr.c",
    parameters: &[],
    deployment: "Linux: modprobe tcp_bbr; sysctl net.ipv4.tcp_congestion_control=bbr.",
    decides: "how large the congestion window is",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Bbr;
}

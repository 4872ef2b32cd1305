//! The window as a cubic function of time.

use airtcp_tcp::config::CongestionControl;

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "cubic",
    place: Place::Sender,
    effect: "grows the window by the time since the last loss, flat where that was",
    source: "RFC 9438",
    parameters: &[],
    deployment: "Linux, Windows and Apple: the default. Linux: sysctl \
                 net.ipv4.tcp_congestion_control=cubic.",
    decides: "how large the congestion window is",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Cubic;
}

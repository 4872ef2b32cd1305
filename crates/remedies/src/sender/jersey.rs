//! The window that an available bandwidth estimate allows.

use airtcp_tcp::config::CongestionControl;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "jersey",
    place: Place::Sender,
    effect: "sets the window after a loss by its estimate of the available bandwidth; without the \
             routers' congestion warnings",
    source: "Xu, Tian & Ansari, TCP-Jersey for wireless IP communications, JSAC 22(4), 2004, §III",
    parameters: &[],
    deployment: Deployment::none("No implementation is known."),
    decides: "how large the congestion window is",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Jersey;
}

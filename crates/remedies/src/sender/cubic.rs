//! The window as a cubic function of time.

use airtcp_tcp::config::CongestionControl;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "cubic",
    place: Place::Sender,
    effect: "grows the window as a cubic function of the time since the last loss, flattest near \
             the window of that loss",
    source: "RFC 9438",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::CongestionControl { name: "cubic" }],
    )])
    .noting("Windows and Apple's systems have it as their default, too."),
    decides: "how large the congestion window is",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Cubic;
}

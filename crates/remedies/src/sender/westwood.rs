//! A window that the measured bandwidth fills.

use airtcp_tcp::config::CongestionControl;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "westwood",
    place: Place::Sender,
    effect: "sets the window after a loss to the measured bandwidth times the minimum round trip",
    source: "Grieco & Mascolo, Performance evaluation and comparison of Westwood+, New Reno, and \
             Vegas, CCR 34(2), 2004",
    parameters: &[],
    deployment: Deployment::by(&[
        Way::new(At::Sender, &[Step::CongestionControl { name: "westwood" }]),
        Way::new(
            At::Sender,
            &[Step::BpfCongestionControl {
                name: "westwood",
                constant: "",
                value: Setting::Fixed(""),
            }],
        )
        .since("6.4"),
    ])
    .noting("It is a module in most distributions: modprobe tcp_westwood."),
    decides: "how large the congestion window is",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Westwood;
}

//! A loss without backlog is no congestion.

use airtcp_tcp::config::CongestionControl;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "veno",
    place: Place::Sender,
    effect: "reduces the window by only a fifth when a loss occurs without a backlog in the \
             network",
    source: "Fu & Liew, TCP Veno, JSAC 21(2), 2003, §II",
    parameters: &[Parameter {
        name: "beta",
        unit: "segments",
        default: Quantity::Number(3.0),
        minimum: Quantity::Number(0.0),
        maximum: Quantity::Number(1000.0),
        effect: "backlog from which on a loss means congestion",
    }],
    deployment: Deployment::by(&[
        Way::new(
            At::Sender,
            &[Step::BpfCongestionControl {
                name: "veno",
                constant: "beta_thousandths",
                value: Setting::Thousandths("beta"),
            }],
        )
        .since("6.4"),
        Way::new(At::Sender, &[Step::CongestionControl { name: "veno" }])
            .instead("the kernel's own, whose beta is 3"),
    ])
    .noting("It is a module in most distributions: modprobe tcp_veno."),
    decides: "how large the congestion window is",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Veno;
    changes.tcp.veno_backlog = values.number("beta");
}

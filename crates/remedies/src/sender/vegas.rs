//! A window that follows the queue's delay.

use airtcp_tcp::config::CongestionControl;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "vegas",
    place: Place::Sender,
    effect: "keeps a few segments queued in the network, measured by delay: low latency, but \
             yields to flows that fill the queue",
    source: "Brakmo & Peterson, TCP Vegas, JSAC 13(8), 1995; Linux, tcp_vegas.c",
    parameters: &[
        Parameter {
            name: "alpha",
            unit: "segments",
            default: Quantity::Count(2),
            minimum: Quantity::Count(1),
            maximum: Quantity::Count(1000),
            effect: "the window opens while fewer wait in the network",
        },
        Parameter {
            name: "beta",
            unit: "segments",
            default: Quantity::Count(4),
            minimum: Quantity::Count(1),
            maximum: Quantity::Count(1000),
            effect: "the window closes while more wait",
        },
    ],
    deployment: Deployment::by(&[
        Way::new(
            At::Sender,
            &[
                Step::CongestionControl { name: "vegas" },
                Step::ModuleParameter {
                    module: "tcp_vegas",
                    name: "alpha",
                    value: Setting::Parameter("alpha"),
                },
                Step::ModuleParameter {
                    module: "tcp_vegas",
                    name: "beta",
                    value: Setting::Parameter("beta"),
                },
            ],
        ),
        Way::new(At::Sender, &[Step::CongestionControl { name: "vegas" }])
            .instead("with the module's own bounds, 2 and 4 unless they were changed"),
    ])
    .noting("It is a module in most distributions: modprobe tcp_vegas."),
    decides: "how large the congestion window is",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Vegas;
    changes.tcp.vegas_alpha = values.count("alpha");
    changes.tcp.vegas_beta = values.count("beta");
}

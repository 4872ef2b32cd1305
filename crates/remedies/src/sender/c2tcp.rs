//! CUBIC, with a bound on the round trip by CoDel's rule.

use airtcp_tcp::config::CongestionControl;
use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "c2tcp",
    place: Place::Sender,
    effect: "CUBIC that collapses its window while round trips exceed a target: low delay in the \
             deep queues of cellular links",
    source: "Abbasloo, Xu & Chao, C2TCP, IFIP Networking 2018, and its patch of Linux 4.13",
    parameters: &[
        Parameter {
            name: "target",
            unit: "",
            default: Quantity::Time(Duration::from_millis(100)),
            minimum: Quantity::Time(Duration::from_millis(1)),
            maximum: Quantity::Time(Duration::from_secs(10)),
            effect: "target round trip, including the path's base delay",
        },
        Parameter {
            name: "interval",
            unit: "",
            default: Quantity::Time(Duration::from_millis(100)),
            minimum: Quantity::Time(Duration::from_millis(1)),
            maximum: Quantity::Time(Duration::from_secs(10)),
            effect: "for how long round trips may be longer before the window falls",
        },
    ],
    deployment: Deployment::none("No released kernel has it; its authors publish a patch of 4.13."),
    decides: "how large the congestion window is",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::C2Tcp;
    changes.tcp.c2tcp_target = values.time("target");
    changes.tcp.c2tcp_interval = values.time("interval");
}

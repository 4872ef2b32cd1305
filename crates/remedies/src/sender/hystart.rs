//! Slow start that ends at the first sign of a queue.

use airtcp_tcp::config::SlowStart;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "hystart",
    place: Place::Sender,
    effect: "ends slow start when ACK trains or round trips grow long",
    source: "Ha & Rhee, Taming the elephants, Computer Networks 55(9), 2011",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[
            Step::CongestionControl { name: "cubic" },
            Step::ModuleParameter {
                module: "tcp_cubic",
                name: "hystart",
                value: Setting::Fixed("1"),
            },
        ],
    )])
    .noting("This is the default of CUBIC, and holds for all namespaces of a machine."),
    decides: "how slow start ends",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.slow_start = SlowStart::HyStart;
}

//! A window for transfers that yield to all others.

use airtcp_tcp::config::{CongestionControl, SlowStart};
use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "ledbat",
    place: Place::Sender,
    effect: "background transfer: shrinks the window while the queueing delay exceeds a target, \
             measured by the round trip (the RFC uses one-way delay)",
    source: "RFC 6817; draft-irtf-iccrg-ledbat-plus-plus for round trips and slow start",
    parameters: &[Parameter {
        name: "target",
        unit: "",
        default: Quantity::Time(Duration::from_millis(100)),
        minimum: Quantity::Time(Duration::from_millis(1)),
        maximum: Quantity::Time(Duration::from_millis(100)),
        effect: "delay in the queues that is aimed at; RFC 6817 §2.5: at most 100 ms",
    }],
    deployment: Deployment::none(
        "No released kernel has it; its authors published a module. TCP-LP (modprobe tcp_lp), \
         which Linux has, yields as well, by another rule.",
    ),
    decides: "how large the congestion window is",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Ledbat;
    changes.tcp.slow_start = SlowStart::Standard;
    changes.tcp.ledbat_target = values.time("target");
}

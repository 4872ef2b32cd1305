//! Slow start that ends at the first sign of a queue.

use airtcp_tcp::config::SlowStart;

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "hystart",
    place: Place::Sender,
    effect: "ends slow start when trains of acknowledgments or round trips grow long",
    source: "Ha & Rhee, Taming the elephants, Computer Networks 55(9), 2011",
    parameters: &[],
    deployment: "Linux: part of CUBIC; /sys/module/tcp_cubic/parameters/hystart.",
    decides: "how slow start ends",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.slow_start = SlowStart::HyStart;
}

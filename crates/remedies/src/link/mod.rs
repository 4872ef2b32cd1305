//! Remedies in the link itself.

mod abc;
mod ack_filter;
mod autorate;
mod cake;
mod codel;
mod dualpi2;
mod fec;
mod fq_codel;
mod inf_retry;
mod pie;
mod queue;

use airtcp_units::Duration;

use crate::deployment::{Setting, Step};
use crate::{Parameter, Remedy};

/// The delay that CoDel aims to stay below, in a single queue or in each of FQ-CoDel's.
// tc(8) takes whole milliseconds.
const TARGET: Parameter = Parameter::time(
    "target",
    Duration::from_millis(5),
    (Duration::from_millis(1), Duration::from_millis(99)),
    "delay in the queue that is acceptable; RFC 8289 §4.4: 5 to 10 % of a round trip",
);

/// The target delay of PIE and its derivatives.
// tc(8) takes whole milliseconds.
const fn aim(effect: &'static str) -> Parameter {
    Parameter::time(
        "target",
        Duration::from_millis(15),
        (Duration::from_millis(1), Duration::from_secs(1)),
        effect,
    )
}

/// A discipline of the kernel with that parameter, named by its `words` for tc(8).
const fn aiming(words: &'static str) -> Step {
    Step::Qdisc {
        words,
        value: Setting::Milliseconds("target"),
    }
}

const ONLY_ITS_OWN_QUEUE: &str = "It controls the queue only if this machine is the bottleneck: in \
                                  front of a modem or a driver with its own queue, add a shaper \
                                  (cake bandwidth, htb).";

/// The choice that disciplines make.
const WHICH_PACKET: &str = "which of the packets that wait is served, dropped or marked";

/// In the order of the catalogue.
pub(crate) const ALL: &[Remedy] = &[
    queue::REMEDY,
    codel::REMEDY,
    fq_codel::REMEDY,
    pie::REMEDY,
    dualpi2::REMEDY,
    cake::REMEDY,
    abc::REMEDY,
    autorate::REMEDY,
    ack_filter::REMEDY,
    inf_retry::REMEDY,
    fec::REMEDY,
];

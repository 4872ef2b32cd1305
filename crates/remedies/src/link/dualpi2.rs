//! Two queues with one controller: low latency for senders that react to each mark.

use airtcp_link::{Discipline, DualPi2Config};
use airtcp_units::Duration;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

use super::{ONLY_ITS_OWN_QUEUE, WHICH_PACKET};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "dualpi2",
    place: Place::Link,
    effect: "gives senders that react to each mark (L4S) a queue of their own, and drops of the \
             others so many that both get the same",
    source: "RFC 9332; Linux, sch_dualpi2.c",
    parameters: &[Parameter {
        name: "target",
        unit: "",
        // tc(8) is told whole milliseconds.
        default: Quantity::Time(Duration::from_millis(15)),
        minimum: Quantity::Time(Duration::from_millis(1)),
        maximum: Quantity::Time(Duration::from_secs(1)),
        effect: "delay in the classic queue that is aimed at; RFC 9332 A.1: 15 ms",
    }],
    deployment: Deployment::by(&[Way::new(
        At::BeforeLink,
        &[Step::Qdisc {
            words: "dualpi2 target",
            value: Setting::Milliseconds("target"),
        }],
    )
    .since("6.18")])
    .noting(ONLY_ITS_OWN_QUEUE),
    decides: WHICH_PACKET,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.link.discipline = Some(Discipline::DualPi2(DualPi2Config {
        target: values.time("target"),
        ..DualPi2Config::default()
    }));
}

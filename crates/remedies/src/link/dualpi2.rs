//! Two queues with one controller: low latency for senders that react to each mark.

use airtcp_link::{Discipline, DualPi2Config};

use crate::deployment::{At, Way};
use crate::{Changes, Deployment, MediumChange, Place, Remedy, Values};

use super::{ONLY_ITS_OWN_QUEUE, WHICH_PACKET, aim, aiming};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "dualpi2",
    place: Place::Link,
    effect: "separates L4S senders into a second queue, and drops enough of the rest that both \
             classes get equal rates",
    source: "RFC 9332; Linux, sch_dualpi2.c",
    parameters: &[aim(
        "delay in the classic queue that is aimed at; RFC 9332 A.1: 15 ms",
    )],
    deployment: Deployment::by(&[
        Way::new(At::BeforeLink, &[aiming("dualpi2 target")]).since("6.18")
    ])
    .noting(ONLY_ITS_OWN_QUEUE),
    decides: WHICH_PACKET,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.medium(MediumChange::Discipline(Discipline::DualPi2(
        DualPi2Config {
            target: values.time("target"),
            ..DualPi2Config::default()
        },
    )));
}

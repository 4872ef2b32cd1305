//! A queue that drops at random, so that its delay stays near a target.

use airtcp_link::{Discipline, PieConfig};

use crate::deployment::{At, Way};
use crate::{Changes, Deployment, MediumChange, Place, Remedy, Values};

use super::{ONLY_ITS_OWN_QUEUE, WHICH_PACKET, aim, aiming};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "pie",
    place: Place::Link,
    effect: "drops arriving packets with a probability controlled by the queue's delay and its \
             trend",
    source: "RFC 8033; Linux, sch_pie.c",
    parameters: &[aim(
        "delay in the queue that is aimed at; RFC 8033 §4.2: 15 ms",
    )],
    deployment: Deployment::by(&[Way::new(At::BeforeLink, &[aiming("pie target")])])
        .noting(ONLY_ITS_OWN_QUEUE),
    decides: WHICH_PACKET,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.medium(MediumChange::Discipline(Discipline::Pie(PieConfig {
        target: values.time("target"),
        ..PieConfig::default()
    })));
}

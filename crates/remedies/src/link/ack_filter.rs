//! Fewer acknowledgments where they wait.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, LinkChange, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "ack-filter",
    place: Place::Link,
    effect: "drops acknowledgments that a later one in the same queue supersedes",
    source: "Linux, sch_cake.c (ack-filter)",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::BeforeLink,
        &[Step::Qdisc {
            words: "cake besteffort ack-filter",
            value: Setting::Fixed(""),
        }],
    )])
    .noting(
        "On the machine from which the acknowledgments leave onto the link, and only where they \
         wait in its own queue.",
    ),
    decides: "which acknowledgments are dropped where they wait",
    apply,
};

fn apply(_values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.link.push(LinkChange::AckFilter);
}

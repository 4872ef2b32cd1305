//! A queue that keeps its delay short.

use airtcp_link::{CoDelConfig, Discipline};

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, MediumChange, Place, Remedy, Values};

use super::{ONLY_ITS_OWN_QUEUE, TARGET, WHICH_PACKET};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "codel",
    place: Place::Link,
    effect: "drops from the head of the queue once packets wait too long",
    source: "RFC 8289",
    parameters: &[TARGET],
    deployment: Deployment::by(&[Way::new(
        At::BeforeLink,
        &[Step::Qdisc {
            words: "codel target",
            value: Setting::Milliseconds("target"),
        }],
    )])
    .noting(ONLY_ITS_OWN_QUEUE),
    decides: WHICH_PACKET,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.medium(MediumChange::Discipline(Discipline::CoDel(CoDelConfig {
        target: values.time("target"),
        ..CoDelConfig::default()
    })));
}

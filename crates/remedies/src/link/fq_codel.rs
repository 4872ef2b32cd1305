//! A queue for each flow, each kept short by CoDel.

use airtcp_link::{Discipline, FqCoDelConfig};

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, MediumChange, Place, Remedy, Values};

use super::{ONLY_ITS_OWN_QUEUE, TARGET, WHICH_PACKET};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "fq-codel",
    place: Place::Link,
    effect: "gives each flow a separate queue, served round-robin, with CoDel on each",
    source: "RFC 8290",
    parameters: &[TARGET],
    deployment: Deployment::by(&[Way::new(
        At::BeforeLink,
        &[Step::Qdisc {
            words: "fq_codel target",
            value: Setting::Milliseconds("target"),
        }],
    )])
    .noting(ONLY_ITS_OWN_QUEUE),
    decides: WHICH_PACKET,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let mut config = FqCoDelConfig::default();
    config.codel.target = values.time("target");
    changes.medium(MediumChange::Discipline(Discipline::FqCoDel(config)));
}

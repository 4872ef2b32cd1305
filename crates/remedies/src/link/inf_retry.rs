//! Retransmissions of a frame by mobiles.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

const LIMIT: &[Step] = &[Step::RetryLimit {
    value: Setting::Attempts("attempts"),
}];
const AT_MOST: &str = "at most 255 attempts, the drivers' limit";

pub(crate) const REMEDY: Remedy = Remedy {
    name: "inf-retry",
    place: Place::Link,
    effect: "lets mobiles retransmit a frame until it arrives: no loss on the radio, but delay \
             spikes",
    source: "Fotiadis & Siris, COST TD(05)049, §III-A (inf-RL)",
    parameters: &[
        Parameter::limit(
            "attempts",
            "attempts",
            1,
            "how often a frame is sent at most, the first time included",
        ),
        Parameter::switch(
            "access-point",
            0,
            "1: the access point's frames, and not the mobiles'",
        ),
    ],
    deployment: Deployment::by(&[
        Way::new(At::Mobile, LIMIT)
            .instead(AT_MOST)
            .when("access-point", 0),
        Way::new(At::BeforeLink, LIMIT)
            .instead(AT_MOST)
            .when("access-point", 1),
    ])
    .noting("Some drivers ignore it."),
    decides: "the mobiles' retry limit",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let attempts = values.limit("attempts");
    changes.medium(if values.is_on("access-point") {
        MediumChange::AccessPointAttempts(attempts)
    } else {
        MediumChange::MobileAttempts(attempts)
    });
}

//! Retransmissions of a frame by mobiles.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, SentBy, Values};

const LIMIT: &[Step] = &[Step::RetryLimit {
    value: Setting::Attempts("attempts"),
}];
const AT_MOST: &str = "at most 255 attempts, the drivers' limit";
const AT_MOST_TO_ALL: &str = "at most 255 attempts, the drivers' limit, to all mobiles alike";

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
        Parameter::count(
            "station",
            "",
            0,
            (0, 2_000),
            "0: of all mobiles; 1, 2 and so on: only of frames of this one, or to it. Flows take \
             mobiles in turn, the first flow the first mobile",
        ),
    ],
    deployment: Deployment::by(&[
        Way::new(At::Mobile, LIMIT)
            .instead(AT_MOST)
            .when("access-point", 0),
        Way::new(At::BeforeLink, LIMIT)
            .instead(AT_MOST_TO_ALL)
            .when("access-point", 1),
    ])
    .noting("With station, on that mobile only. Some drivers ignore it."),
    decides: "the mobiles' retry limit",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let attempts = values.limit("attempts");
    let sent_by = if values.is_on("access-point") {
        SentBy::AccessPoint
    } else {
        SentBy::Mobile
    };
    changes.medium(match (values.count("station"), sent_by) {
        (0, SentBy::Mobile) => MediumChange::MobileAttempts(attempts),
        (0, SentBy::AccessPoint) => MediumChange::AccessPointAttempts(attempts),
        (mobile, sent_by) => MediumChange::StationAttempts {
            mobile,
            sent_by,
            limit: attempts,
        },
    });
}

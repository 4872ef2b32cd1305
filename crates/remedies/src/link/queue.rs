//! The length of the queue in front of the link.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "queue",
    place: Place::Link,
    effect: "sets the length of the queue in front of the link: longer keeps the link busy, \
             shorter keeps delay low",
    source: "Appenzeller, Keslassy & McKeown, Sizing Router Buffers, SIGCOMM 2004",
    parameters: &[Parameter::count(
        "packets",
        "packets",
        100,
        (1, 1_000_000),
        "packets that may wait, the one being sent not counted",
    )],
    deployment: Deployment::by(&[Way::new(
        At::BeforeLink,
        &[Step::Qdisc {
            words: "pfifo limit",
            value: Setting::Parameter("packets"),
        }],
    )])
    .noting(
        "Wi-Fi drivers and modems queue below it; fq_codel with airtime queue limits bounds those \
         on mac80211 drivers that support it.",
    ),
    decides: "the queue's length",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.medium(MediumChange::Queue(values.count("packets")));
}

//! Shorter aggregates.

use airtcp_units::Duration;

use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "ampdu-limit",
    place: Place::AccessPoint,
    effect: "bounds the time of an aggregate: others wait for less long, and each contention \
             carries less",
    source: "IEEE 802.11-2020 §10.12; aPPDUMaxTime, 5.484 ms",
    parameters: &[Parameter::time(
        "time",
        Duration::from_millis(2),
        (Duration::from_micros(100), Duration::from_micros(5_484)),
        "longest aggregate, of every station",
    )],
    deployment: Deployment::none(
        "mac80211 has no setting for it, and bounds aggregates by the peer's limits. Some drivers \
         bound them by themselves; ath10k has a limit in subframes (`ath10k/htt_max_amsdu_ampdu` \
         below the radio's debugging files), which is not a time.",
    ),
    decides: "how long an aggregate is",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.medium(MediumChange::AggregateTime(values.time("time")));
}

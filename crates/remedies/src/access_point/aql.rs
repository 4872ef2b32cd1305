//! Bounded airtime queued in the hardware.

use crate::deployment::{At, Way};
use crate::{Changes, Deployment, MediumChange, Place, Remedy, Values};

use super::{ANNOUNCED, AQL_ENABLED, airtime_limit, airtime_limits};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "aql",
    place: Place::AccessPoint,
    effect: "limits the airtime queued in the hardware, below the stations' queues: less delay, \
             shorter aggregates",
    source: "airtime queue limits (Linux, include/net/cfg80211.h, net/mac80211/tx.c)",
    parameters: &[airtime_limit(
        "airtime of a station's packets that may wait in the hardware",
    )],
    deployment: Deployment::by(&[
        Way::new(At::BeforeLink, &[AQL_ENABLED, airtime_limits(0)]).since("5.12")
    ])
    .noting(ANNOUNCED),
    decides: "how much waits in an access point's hardware",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.medium(MediumChange::AirtimeLimit(values.time("limit")));
}

//! A bound on what waits in the hardware.

use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "aql",
    place: Place::AccessPoint,
    effect: "bounds the airtime of what waits in the hardware, below the queues of stations: less \
             delay, shorter aggregates",
    source: "airtime queue limits (Linux, include/net/cfg80211.h, net/mac80211/tx.c)",
    parameters: &[Parameter {
        name: "limit",
        unit: "",
        default: Quantity::Time(Duration::from_millis(5)),
        minimum: Quantity::Time(Duration::from_micros(100)),
        maximum: Quantity::Time(Duration::from_secs(1)),
        effect: "airtime of a station's packets that may wait in the hardware",
    }],
    deployment: Deployment::none(
        "By hand, for drivers that announce it: `echo 2 LIMIT LIMIT > \
         /sys/kernel/debug/ieee80211/PHY/aql_txq_limit`, in microseconds, for best effort; `echo 2 \
         5000 12000` puts mac80211's own back.",
    ),
    decides: "how much waits in an access point's hardware",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.link.airtime_limit = Some(values.time("limit"));
}

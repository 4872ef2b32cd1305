//! A bound on what waits in the hardware.

use airtcp_units::Duration;

use crate::deployment::{At, Setting, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

use super::{ANNOUNCED, AQL_ENABLED, airtime_limits};

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
    deployment: Deployment::by(&[Way::new(
        At::BeforeLink,
        &[
            AQL_ENABLED,
            airtime_limits(Setting::AirtimeLimits {
                parameter: "limit",
                high_us: 0,
            }),
        ],
    )
    .since("5.12")])
    .noting(ANNOUNCED),
    decides: "how much waits in an access point's hardware",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.link.airtime_limit = Some(values.time("limit"));
}

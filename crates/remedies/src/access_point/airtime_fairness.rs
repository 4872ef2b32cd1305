//! The same airtime for each station.

use airtcp_link::mac::edca::queueing::Queueing;
use airtcp_link::scheduler::airtime::AirtimeLimits;

use crate::deployment::{At, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};
use airtcp_units::Duration;

pub(crate) const REMEDY: Remedy = Remedy {
    name: "airtime-fairness",
    place: Place::AccessPoint,
    effect: "gives each station a queue of its own, served by airtime, and keeps little in the \
             hardware: a slow station takes no more of the channel than a fast one",
    source: "Høiland-Jørgensen et al., Ending the Anomaly, USENIX ATC 2017, §3.2; airtime queue \
             limits (Linux, net/mac80211/tx.c)",
    parameters: &[Parameter {
        name: "limit",
        unit: "",
        default: Quantity::Time(Duration::from_millis(5)),
        minimum: Quantity::Time(Duration::from_micros(100)),
        maximum: Quantity::Time(Duration::from_secs(1)),
        effect: "airtime of a station's packets that may wait in the hardware (AQL)",
    }],
    deployment: Deployment::by(&[Way::new(At::BeforeLink, &[]).instead(
        "what mac80211 does with a limit of 5 ms, for drivers that announce it, as mt76",
    )])
    .noting(
        "The limit is in /sys/kernel/debug/ieee80211/PHY/aql_txq_limit. Drivers that schedule in \
         their firmware do not have it.",
    ),
    decides: "which station an access point serves next",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let low = values.time("limit");
    let known = AirtimeLimits::default();
    changes.link.station_queueing = Some(Queueing::Airtime(AirtimeLimits {
        low,
        high: known.high.max(low),
        ..known
    }));
}

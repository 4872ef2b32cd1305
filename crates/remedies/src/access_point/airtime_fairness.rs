//! The same airtime for each station.

use airtcp_link::mac::edca::queueing::Queueing;
use airtcp_link::scheduler::airtime::AirtimeLimits;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, MediumChange, Place, Remedy, Values};

use super::{ANNOUNCED, AQL_ENABLED, airtime_limit, airtime_limits};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "airtime-fairness",
    place: Place::AccessPoint,
    effect: "gives each station a separate queue, served by airtime, and limits the hardware \
             queue: a slow station gets no more of the channel than a fast one",
    source: "Høiland-Jørgensen et al., Ending the Anomaly, USENIX ATC 2017, §3.2; airtime queue \
             limits (Linux, net/mac80211/tx.c)",
    parameters: &[airtime_limit(
        "airtime of a station's packets that may wait in the hardware (AQL)",
    )],
    deployment: Deployment::by(&[Way::new(
        At::BeforeLink,
        &[
            // AIRTIME_USE_TX and AIRTIME_USE_RX of net/mac80211/ieee80211_i.h.
            Step::radio_file("airtime_flags", Setting::Fixed("3")),
            AQL_ENABLED,
            // IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H of include/net/cfg80211.h.
            airtime_limits(12_000),
        ],
    )
    .since("5.12")])
    .noting(ANNOUNCED),
    decides: "which station an access point serves next",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let low = values.time("limit");
    let known = AirtimeLimits::default();
    changes.medium(MediumChange::StationQueueing(Queueing::Airtime(
        AirtimeLimits {
            low,
            high: known.high.max(low),
            ..known
        },
    )));
}

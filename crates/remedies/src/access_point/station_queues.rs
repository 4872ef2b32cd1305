//! A queue for each station.

use airtcp_link::mac::edca::queueing::Queueing;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, MediumChange, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "station-queues",
    place: Place::AccessPoint,
    effect: "gives each station a separate queue, served round-robin, with FQ-CoDel on each: a \
             slow station delays no other's packets",
    source: "Høiland-Jørgensen et al., Ending the Anomaly, USENIX ATC 2017, §3.1 (FQ-MAC)",
    parameters: &[],
    deployment: Deployment::by(&[
        // Without airtime that is counted a station's deficit never runs out, and all take turns
        // (net/mac80211/sta_info.c, `ieee80211_sta_register_airtime`).
        Way::new(
            At::BeforeLink,
            &[Step::radio_file("airtime_flags", Setting::Fixed("0"))],
        ),
        Way::new(At::BeforeLink, &[])
            .instead("the default of mac80211 for drivers that use its queues"),
    ])
    .noting(
        "An access point with queues in its driver needs another driver. A gateway before the \
         access point cannot have it: the stations' queues are below it, in the radio.",
    ),
    decides: "which station an access point serves next",
    apply,
};

fn apply(_values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.medium(MediumChange::StationQueueing(Queueing::RoundRobin));
}

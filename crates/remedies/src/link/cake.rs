//! A shaper, tins, fair queues and Cobalt in one.

use airtcp_link::frame::RetryLimit;
use airtcp_link::{CakeConfig, Discipline};
use airtcp_units::{BitRate, Duration};

use crate::deployment::cake::RTT;
use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

use super::WHICH_PACKET;

/// Acceptable delays in a round trip, as tc(8) sets the one with the other (q_cake.c).
const TARGETS_IN_RTT: u64 = 20;

pub(crate) const REMEDY: Remedy = Remedy {
    name: "cake",
    place: Place::Link,
    effect: "shares the link fairly among hosts and flows, keeps each queue short and, given a \
             rate, shapes to it so that packets queue here instead of in a modem",
    source: "Høiland-Jørgensen, Täht & Morton, Piece of CAKE, LANMAN 2018; Linux, sch_cake.c",
    parameters: &[
        Parameter::limit(
            "rate",
            "kbit/s",
            64,
            "the shaped rate; slightly below the bottleneck's",
        ),
        Parameter::time(
            "rtt",
            RTT,
            (Duration::from_millis(1), Duration::from_secs(10)),
            "the flows' round trip: packets may wait a twentieth of it",
        ),
    ],
    deployment: Deployment::by(&[Way::new(
        At::BeforeLink,
        &[Step::Qdisc {
            words: "cake",
            value: Setting::Shaped {
                rate: "rate",
                rtt: "rtt",
            },
        }],
    )])
    .noting("Without a rate it controls the queue only if this machine is the bottleneck."),
    decides: WHICH_PACKET,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let rate = match values.limit("rate") {
        RetryLimit::Unlimited => None,
        RetryLimit::Attempts(kilobits) => Some(BitRate::from_bps(u64::from(kilobits.get()) * 1000)),
    };
    let rtt = values.time("rtt");
    changes.medium(MediumChange::Discipline(Discipline::Cake(CakeConfig {
        rate,
        target: rtt / TARGETS_IN_RTT,
        interval: rtt,
        ..CakeConfig::default()
    })));
}

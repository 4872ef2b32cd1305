//! A queue for each flow, each of which keeps its delay short.

use airtcp_link::{Discipline, FqCoDelConfig};
use airtcp_units::Duration;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "fq-codel",
    place: Place::Link,
    effect: "gives each flow a queue of its own, served in turn, with CoDel in each",
    source: "RFC 8290",
    parameters: &[Parameter {
        name: "target",
        unit: "",
        default: Quantity::Time(Duration::from_millis(5)),
        minimum: Quantity::Time(Duration::from_micros(100)),
        maximum: Quantity::Time(Duration::from_millis(99)),
        effect: "delay in the queue that is acceptable; RFC 8289 §4.4: 5 to 10 % of a round trip",
    }],
    deployment: Deployment::by(&[Way::new(
        At::BeforeLink,
        &[Step::Qdisc {
            words: "fq_codel target",
            value: Setting::Milliseconds("target"),
        }],
    )])
    .noting(
        "It rules the queue only where that stands on this machine: below a modem or a driver with \
         a queue of its own it needs a shaper in front (cake bandwidth, htb).",
    ),
    decides: "which of the packets that wait is served, dropped or marked",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let mut config = FqCoDelConfig::default();
    config.codel.target = values.time("target");
    changes.link.discipline = Some(Discipline::FqCoDel(config));
}

//! Freeze-TCP.

use airtcp_units::Duration;

use crate::{
    Changes, Deployment, LinkChange, OutageReaction, Parameter, Place, Quantity, Remedy, Values,
};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "freeze-tcp",
    place: Place::Receiver,
    effect: "advertises a zero window before an outage and three window updates after it: the \
             sender neither sends nor times out meanwhile",
    source: "Goff, Moronski, Phatak & Gupta, INFOCOM 2000",
    parameters: &[Parameter {
        name: "warning",
        unit: "",
        default: Quantity::Time(Duration::from_millis(100)),
        minimum: Quantity::Time(Duration::ZERO),
        maximum: Quantity::Time(Duration::from_secs(60)),
        effect: "how long before an outage the receiver knows of it; about a round trip is best",
    }],
    deployment: Deployment::none(
        "The receiver's stack must know of fades in advance, which no system reports.",
    ),
    decides: "what a receiver does about outages",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let warning = values.time("warning");
    changes
        .link
        .push(LinkChange::Outages(OutageReaction::Freeze { warning }));
}

//! New data on the first duplicate acknowledgments.

use crate::deployment::Way;
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "limited-transmit",
    place: Place::Sender,
    effect: "sends a new segment on each of the first duplicate acknowledgments, so that small \
             windows reach the third",
    source: "RFC 3042",
    parameters: &[Parameter {
        name: "on",
        unit: "",
        default: Quantity::Count(1),
        minimum: Quantity::Count(0),
        maximum: Quantity::Count(1),
        effect: "1: on; 0: off",
    }],
    deployment: Deployment::by(&[Way::BY_ITSELF.when("on", 1)])
        .noting("Linux has no setting that turns it off."),
    decides: "limited transmit",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.limited_transmit = values.is_on("on");
}

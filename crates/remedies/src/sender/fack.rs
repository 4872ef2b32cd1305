//! Losses by the distance to the highest byte reported.

use airtcp_tcp::config::LossDetection;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "fack",
    place: Place::Sender,
    effect: "declares every hole lost that ends three segments below the highest byte reported",
    source: "Mathis & Mahdavi, Forward acknowledgment, SIGCOMM 1996",
    parameters: &[],
    deployment: Deployment::none("Linux removed it in version 4.15; RACK took its place."),
    decides: "what makes a segment believed lost",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.sack = true;
    changes.tcp.loss_detection = LossDetection::ForwardAcknowledgment;
}

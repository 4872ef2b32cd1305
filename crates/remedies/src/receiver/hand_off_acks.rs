//! Fast retransmission on hand-off.

use crate::{Changes, Deployment, LinkChange, OutageReaction, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "hand-off-acks",
    place: Place::Receiver,
    effect: "sends the last acknowledgment three times after an outage, so that the sender repairs \
             losses without waiting for its timer",
    source: "Caceres & Iftode, Improving the performance of reliable transport protocols in \
             mobile computing environments, JSAC 13(5), 1995",
    parameters: &[],
    deployment: Deployment::none(
        "The receiver's stack must be notified of the hand-off by the link, which no system does.",
    ),
    decides: "what a receiver does about outages",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes
        .link
        .push(LinkChange::Outages(OutageReaction::RepeatLastAck));
}

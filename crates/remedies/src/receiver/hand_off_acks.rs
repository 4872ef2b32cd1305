//! Fast retransmission on hand-off.

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "hand-off-acks",
    place: Place::Receiver,
    effect: "sends the last acknowledgment three times when the link is back, so that the sender \
             repairs what the outage took without waiting for its timer",
    source: "Caceres & Iftode, Improving the performance of reliable transport protocols in \
             mobile computing environments, JSAC 13(5), 1995",
    parameters: &[],
    deployment: Deployment::none(
        "The receiver's stack has to hear of the hand-off from the link, and no system tells it.",
    ),
    decides: "what a receiver does about outages",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.link.hand_off_acks = true;
}

//! Receivers that know of outages of their link: Freeze-TCP before, and fast retransmission after.

use airtcp_units::Duration;

use crate::choices::OUTAGES;
use crate::{LinkChange, OutageReaction, Parameter, Place, Remedy};

pub(crate) const FREEZE_TCP: Remedy = Remedy::new("freeze-tcp", Place::Receiver)
    .effect(
        "advertises a zero window before an outage and three window updates after it: the sender \
         neither sends nor times out meanwhile",
    )
    .from("Goff, Moronski, Phatak & Gupta, INFOCOM 2000")
    .decides(OUTAGES)
    .takes(&[Parameter::time(
        "warning",
        Duration::from_millis(100),
        (Duration::ZERO, Duration::from_secs(60)),
        "how long before an outage the receiver knows of it; about a round trip is best",
    )])
    .sets(|values, to| {
        let warning = values.time("warning");
        to.link
            .push(LinkChange::Outages(OutageReaction::Freeze { warning }));
    })
    .no_way("The receiver's stack must know of fades in advance, which no system reports.");

pub(crate) const HAND_OFF_ACKS: Remedy = Remedy::new("hand-off-acks", Place::Receiver)
    .effect(
        "sends the last acknowledgment three times after an outage, so that the sender repairs \
         losses without waiting for its timer",
    )
    .from(
        "Caceres & Iftode, Improving the performance of reliable transport protocols in mobile \
         computing environments, JSAC 13(5), 1995",
    )
    .decides(OUTAGES)
    .sets(|_, to| {
        to.link
            .push(LinkChange::Outages(OutageReaction::RepeatLastAck));
    })
    .no_way(
        "The receiver's stack must be notified of the hand-off by the link, which no system does.",
    );

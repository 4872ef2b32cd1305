//! Repair packets on the link, below TCP.

use std::num::NonZeroU32;

use airtcp_link::FecConfig;
use airtcp_units::Duration;

use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "fec",
    place: Place::Link,
    effect: "sends repair packets after each block of packets, so that the link rebuilds losses \
             below TCP: no retransmission, but a share of the rate, and the delay of a block",
    source: "Subramanian, Kalyanaraman & Ramakrishnan, LT-TCP, MILCOM 2006 (adaptive); RFC 9407, \
             RFC 5510",
    parameters: &[
        Parameter::count("block", "packets", 20, (1, 255), "packets of a block"),
        Parameter::count(
            "repair",
            "packets",
            2,
            (1, 255),
            "repair packets after each block, which rebuild as many losses of it; if adaptive, at \
             most",
        ),
        Parameter::switch(
            "adaptive",
            0,
            "1: as few as rebuild 99 % of blocks at the loss rate so far",
        ),
        Parameter::time(
            "pause",
            Duration::from_millis(10),
            (Duration::from_millis(1), Duration::from_secs(1)),
            "pause after which an incomplete block ends",
        ),
    ],
    deployment: Deployment::none(
        "No way: neither Linux nor access points send repair packets below IP. A tunnel with \
         forward error correction between hosts on both sides of the link comes near; it is set up \
         by hand at both ends, and repairs losses of the whole path between them.",
    ),
    decides: "the link's repair packets",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.medium(MediumChange::Fec(FecConfig {
        block: NonZeroU32::new(values.count("block")).unwrap_or(NonZeroU32::MIN),
        repair: values.count("repair"),
        adaptive: values.is_on("adaptive"),
        pause: values.time("pause"),
    }));
}

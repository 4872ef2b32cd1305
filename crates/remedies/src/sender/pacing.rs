//! Segments at a pace.

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "pacing",
    place: Place::Sender,
    effect: "sends segments evenly over the round trip and not as acknowledgments come",
    source: "Aggarwal, Savage & Anderson, Understanding the performance of TCP pacing, \
             INFOCOM 2000; Linux, tcp_update_pacing_rate",
    parameters: &[],
    deployment: "Linux: tc qdisc replace dev DEV root fq.",
    decides: "when segments leave",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.pacing = true;
}

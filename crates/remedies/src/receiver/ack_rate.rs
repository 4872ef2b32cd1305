//! Acknowledgments as rare as the sender asks for.

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "ack-rate",
    place: Place::Receiver,
    effect: "acknowledges every R-th segment, as the sender requests by a TCP option: fewer ACKs \
             on the channel",
    source: "draft-ietf-tcpm-ack-rate-request (TARR)",
    parameters: &[
        Parameter {
            name: "segments",
            unit: "segments",
            default: Quantity::Count(10),
            minimum: Quantity::Count(1),
            // The option has seven bits for it.
            maximum: Quantity::Count(127),
            effect: "R: full segments until an acknowledgment goes out, unless the delayed \
                     acknowledgment's time is over before",
        },
        Parameter {
            name: "after",
            unit: "segments",
            default: Quantity::Count(100),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(1_000_000),
            effect: "segments, at the start and after a pause or a gap, that are each \
                     acknowledged: a sender should not ask for fewer in slow start",
        },
    ],
    deployment: Deployment::none(
        "No Linux knows the option, and how many segments a receiver acknowledges together is \
         compiled in: a route's `quickack` has each acknowledged, and none has fewer.",
    ),
    decides: "when the receiver acknowledges",
    apply,
};

/// The effect at the receiver: it knows R, and the option's bytes take no room. The sender's
/// request is constant during the connection; `after` covers its absence in slow start.
fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let ack = &mut changes.tcp.delayed_ack;
    ack.segments = values.count("segments");
    ack.quick = values.count("after");
    // Otherwise each pushed segment that is read would be acknowledged, whatever was asked for.
    ack.on_reading = false;
    ack.on_growth = false;
}

//! The acknowledgment schedule of TACK.

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "tack",
    place: Place::Receiver,
    effect: "acknowledges a few times per round trip, and losses immediately",
    source: "Li et al., TACK, SIGCOMM 2020, equation 3 and §4.4",
    parameters: &[
        Parameter {
            name: "beta",
            unit: "acknowledgments",
            default: Quantity::Count(4),
            minimum: Quantity::Count(1),
            maximum: Quantity::Count(1000),
            effect: "the most in the handshake's round trip",
        },
        Parameter {
            name: "segments",
            unit: "segments",
            default: Quantity::Count(2),
            minimum: Quantity::Count(1),
            maximum: Quantity::Count(1000),
            effect: "full segments until an acknowledgment goes out, where fewer arrive",
        },
    ],
    deployment: Deployment::none(
        "No kernel schedules acknowledgments by the round trip: the rule is compiled in. The \
         paper's own stack is in user space.",
    ),
    decides: "when the receiver acknowledges",
    apply,
};

/// Configures the receiver only. The paper's sender subtracts the receiver's delay from its round
/// trips, learns of losses by packet number, and paces; a BBR sender paces and filters round trips
/// by itself, as the paper's does.
fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let ack = &mut changes.tcp.delayed_ack;
    ack.most_a_round_trip = Some(values.count("beta"));
    ack.segments = values.count("segments");
    // Otherwise each pushed segment that is read would be acknowledged apart from the schedule.
    ack.on_reading = false;
    ack.on_growth = false;
    ack.compressed = false;
}

//! Number of round trips that are measured.

use airtcp_tcp::config::RttSampling;

use crate::deployment::Way;
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "rtt-sampling",
    place: Place::Sender,
    effect: "chooses whether one round trip per window is measured or one per acknowledgment",
    source: "RFC 6298 §3; RFC 7323 §4.1; Miyim §III (one packet at a time without timestamps)",
    parameters: &[Parameter {
        name: "every",
        unit: "",
        default: Quantity::Count(0),
        minimum: Quantity::Count(0),
        maximum: Quantity::Count(1),
        effect: "0: one segment a window; 1: every acknowledgment",
    }],
    deployment: Deployment::by(&[Way::BY_ITSELF.when("every", 1)]).noting(
        "Linux measures with every acknowledgment, with timestamps or without, and has no setting \
         for it.",
    ),
    decides: "which round trips are measured",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.timeout.sampling = if values.is_on("every") {
        RttSampling::PerAcknowledgment
    } else {
        RttSampling::PerWindow
    };
}

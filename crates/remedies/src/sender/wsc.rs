//! All that WSC-TCP makes of the link.

use airtcp_units::Duration;

use super::wsc_dynamic_dupack::{AS_PRINTED, BELOW_WINDOW, CAPPED, threshold};
use super::wsc_rtt_clusters::{CLUSTERS, SAMPLES, TRANSIENT, clustering};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "wsc",
    place: Place::Sender,
    effect: "corrected round trips, dynamic duplicate threshold and RTT clusters together; for \
             senders on the wireless link",
    source: "Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3",
    parameters: &[
        Parameter {
            name: "link-rto",
            unit: "",
            default: Quantity::Time(Duration::from_millis(5)),
            minimum: Quantity::Time(Duration::from_millis(1)),
            maximum: Quantity::Time(Duration::from_millis(10000)),
            effect: "duration of one link retransmission, where the link does not report it",
        },
        AS_PRINTED,
        CAPPED,
        BELOW_WINDOW,
        CLUSTERS,
        SAMPLES,
        TRANSIENT,
    ],
    deployment: Deployment::none(
        "No Linux driver reports each frame to TCP; a gateway or modem with its own stack can.",
    ),
    decides: "what is made of the link's reports",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let took = values.time("link-rto");
    changes.tcp.link_feedback.corrected_rtt = Some(took);
    changes.tcp.link_feedback.dynamic_threshold = Some(threshold(values));
    changes.tcp.link_feedback.rtt_clusters = Some(clustering(values, "link-rto"));
}

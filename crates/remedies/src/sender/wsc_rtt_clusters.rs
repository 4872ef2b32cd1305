//! Round trips in classes of link retransmissions.

use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "wsc-rtt-clusters",
    place: Place::Sender,
    effect: "groups round trips, takes the link's retransmission classes off and forgets \
             transients",
    source: "Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.4",
    parameters: &[Parameter {
        name: "link-delay",
        unit: "",
        default: Quantity::Time(Duration::from_millis(5)),
        minimum: Quantity::Time(Duration::from_millis(1)),
        maximum: Quantity::Time(Duration::from_millis(10000)),
        effect: "what one retransmission of the link takes, where the link does not tell",
    }],
    deployment: Deployment::none("Any sender could do it; none is known that does."),
    decides: "which round trips are believed",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.link_feedback.rtt_clusters = Some(values.time("link-delay"));
}

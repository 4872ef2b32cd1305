//! Round trips in classes of link retransmissions.

use airtcp_tcp::config::RttClustering;
use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

/// The most groups.
pub(super) const CLUSTERS: Parameter = Parameter {
    name: "clusters",
    unit: "",
    default: Quantity::Count(4),
    minimum: Quantity::Count(1),
    maximum: Quantity::Count(16),
    effect: "the most groups of round trips, k of k-means",
};

/// The round trips that are grouped.
pub(super) const SAMPLES: Parameter = Parameter {
    name: "samples",
    unit: "round trips",
    default: Quantity::Count(64),
    minimum: Quantity::Count(4),
    maximum: Quantity::Count(4096),
    effect: "number of recent round trips in a clustering, which is repeated after a quarter as \
             many",
};

/// The largest group that is hidden.
pub(super) const TRANSIENT: Parameter = Parameter {
    name: "transient",
    unit: "round trips",
    default: Quantity::Count(2),
    minimum: Quantity::Count(0),
    maximum: Quantity::Count(4096),
    effect: "the largest group that counts as a transient and is hidden from the timer",
};

/// The grouping that the three of them and the time of a link retransmission make.
pub(super) fn clustering(values: &Values<'_>, link_delay: &str) -> RttClustering {
    RttClustering {
        link_delay: values.time(link_delay),
        most: values.count("clusters"),
        samples: values.count("samples"),
        transient: values.count("transient"),
    }
}

pub(crate) const REMEDY: Remedy = Remedy {
    name: "wsc-rtt-clusters",
    place: Place::Sender,
    effect: "clusters round trips, subtracts the link's retransmission classes and forgets \
             transients",
    source: "Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.4",
    parameters: &[
        Parameter {
            name: "link-delay",
            unit: "",
            default: Quantity::Time(Duration::from_millis(5)),
            minimum: Quantity::Time(Duration::from_millis(1)),
            maximum: Quantity::Time(Duration::from_millis(10000)),
            effect: "duration of one link retransmission, where the link does not report it",
        },
        CLUSTERS,
        SAMPLES,
        TRANSIENT,
    ],
    deployment: Deployment::none("Possible in any sender; no implementation is known."),
    decides: "which round trips are believed",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.link_feedback.rtt_clusters = Some(clustering(values, "link-delay"));
}

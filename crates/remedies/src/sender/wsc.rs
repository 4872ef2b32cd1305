//! WSC-TCP: three uses of the reports of the sender's link, one by one and together.

use airtcp_tcp::config::{DynamicThreshold, GapCount, RttClustering, ThresholdCap};
use airtcp_units::Duration;

use crate::{Parameter, Place, Remedy, Values};

const NO_REPORTS: &str =
    "No Linux driver reports each frame to TCP; a gateway or modem with its own stack can.";

/// The time of a link retransmission, from `least` milliseconds on.
const fn link_time(name: &'static str, least: u64, effect: &'static str) -> Parameter {
    let bounds = (Duration::from_millis(least), Duration::from_secs(10));
    Parameter::time(name, Duration::from_millis(5), bounds, effect)
}

const REPORTED: &str = "duration of one link retransmission, where the link does not report it";

const AS_PRINTED: Parameter = Parameter::switch(
    "as-printed",
    0,
    "0: the threshold grows by all segments above the first that the link has yet to deliver; 1: \
     by out-of-order deliveries, and by those segments when the first gap closes, as the \
     pseudocode is printed",
);

const CAPPED: Parameter = Parameter::switch(
    "capped",
    1,
    "1: the threshold stays below the congestion window; 0: it has no bound, as in the thesis",
);

const BELOW_WINDOW: Parameter = Parameter::count(
    "below-window",
    "segments",
    1,
    (0, 1000),
    "by how much it stays below the window, with capped = 1",
);

const CLUSTERS: Parameter = Parameter::count(
    "clusters",
    "",
    4,
    (1, 16),
    "the most groups of round trips, k of k-means",
);

const SAMPLES: Parameter = Parameter::count(
    "samples",
    "round trips",
    64,
    (4, 4096),
    "number of recent round trips in a clustering, which is repeated after a quarter as many",
);

const TRANSIENT: Parameter = Parameter::count(
    "transient",
    "round trips",
    2,
    (0, 4096),
    "the largest group that counts as a transient and is hidden from the timer",
);

fn threshold(values: &Values<'_>) -> DynamicThreshold {
    DynamicThreshold {
        count: match values.is_on("as-printed") {
            false => GapCount::AboveFirstGap,
            true => GapCount::AsPrinted,
        },
        cap: match values.is_on("capped") {
            false => ThresholdCap::None,
            true => ThresholdCap::BelowWindow(values.count("below-window")),
        },
    }
}

fn clustering(values: &Values<'_>, link_delay: &str) -> RttClustering {
    RttClustering {
        link_delay: values.time(link_delay),
        most: values.count("clusters"),
        samples: values.count("samples"),
        transient: values.count("transient"),
    }
}

pub(crate) const TOGETHER: Remedy = Remedy::new("wsc", Place::Sender)
    .effect(
        "corrected round trips, dynamic duplicate threshold and RTT clusters together; for \
         senders on the wireless link",
    )
    .from("Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3")
    .decides("what is made of the link's reports")
    .takes(&[
        link_time("link-rto", 1, REPORTED),
        AS_PRINTED,
        CAPPED,
        BELOW_WINDOW,
        CLUSTERS,
        SAMPLES,
        TRANSIENT,
    ])
    .sets(|values, to| {
        let feedback = &mut to.tcp.link_feedback;
        feedback.corrected_rtt = Some(values.time("link-rto"));
        feedback.dynamic_threshold = Some(threshold(values));
        feedback.rtt_clusters = Some(clustering(values, "link-rto"));
    })
    .no_way(NO_REPORTS);

pub(crate) const CORRECTED_RTT: Remedy = Remedy::new("wsc-corrected-rtt", Place::Sender)
    .effect(
        "subtracts the link's retransmission time from every round trip before it reaches the \
         timer; for senders on the wireless link",
    )
    .from("Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.1")
    .decides("what of a round trip the timer sees")
    .takes(&[link_time(
        "link-rto",
        0,
        "duration of one link retransmission (LL_RTO), where the link does not report it; the \
         thesis tries 0.5 s, an 802.11b frame of 1500 bytes takes about 5 ms with its backoff",
    )])
    .sets(|values, to| to.tcp.link_feedback.corrected_rtt = Some(values.time("link-rto")))
    .no_way(NO_REPORTS);

pub(crate) const DYNAMIC_DUPACK: Remedy = Remedy::new("wsc-dynamic-dupack", Place::Sender)
    .effect(
        "defers fast retransmit while the link is still retransmitting an earlier segment; for \
         senders on the wireless link",
    )
    .from("Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.2")
    .decides("which duplicates mean a loss")
    .takes(&[AS_PRINTED, CAPPED, BELOW_WINDOW])
    .sets(|values, to| to.tcp.link_feedback.dynamic_threshold = Some(threshold(values)))
    .no_way(NO_REPORTS);

pub(crate) const RTT_CLUSTERS: Remedy = Remedy::new("wsc-rtt-clusters", Place::Sender)
    .effect(
        "clusters round trips, subtracts the link's retransmission classes and forgets transients",
    )
    .from("Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.4")
    .decides("which round trips are believed")
    .takes(&[
        link_time("link-delay", 1, REPORTED),
        CLUSTERS,
        SAMPLES,
        TRANSIENT,
    ])
    .sets(|values, to| {
        to.tcp.link_feedback.rtt_clusters = Some(clustering(values, "link-delay"));
    })
    .no_way("Possible in any sender; no implementation is known.");

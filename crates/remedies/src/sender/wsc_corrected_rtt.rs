//! Round-trip times without the link's own delay.

use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "wsc-corrected-rtt",
    place: Place::Sender,
    effect: "subtracts the link's retransmission time from every round trip before it reaches the \
             timer; for senders on the wireless link",
    source: "Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.1",
    parameters: &[Parameter {
        name: "link-rto",
        unit: "",
        default: Quantity::Time(Duration::from_millis(5)),
        minimum: Quantity::Time(Duration::from_millis(0)),
        maximum: Quantity::Time(Duration::from_millis(10000)),
        effect: "duration of one link retransmission (LL_RTO), where the link does not report it; \
                 the thesis tries 0.5 s, an 802.11b frame of 1500 bytes takes about 5 ms with its \
                 backoff",
    }],
    deployment: Deployment::none(
        "No Linux driver reports each frame to TCP; a gateway or modem with its own stack can.",
    ),
    decides: "what of a round trip the timer sees",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.link_feedback.corrected_rtt = Some(values.time("link-rto"));
}

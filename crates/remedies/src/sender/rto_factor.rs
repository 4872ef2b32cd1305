//! A retransmission timer that allows for more variation.

use crate::{Changes, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "rto-factor",
    place: Place::Sender,
    effect: "waits m mean deviations above the smoothed round trip before a timeout, not 4",
    source: "Miyim, Techniques for Throughput Enhancement in Wireless Networks, §III, eq. 3; \
             RFC 6298 §2.3 (K = 4)",
    parameters: &[Parameter {
        name: "factor",
        unit: "",
        default: Quantity::Number(10.0),
        minimum: Quantity::Number(0.5),
        maximum: Quantity::Number(1000.0),
        effect: "m in RTO = smoothed RTT + m × smoothed mean deviation",
    }],
    deployment: "Linux: no knob, the factor 4 is compiled in. A larger floor keeps the timer from \
                 short spikes too: ip route change ROUTE rto_min 400ms. On a split-TCP proxy with \
                 its own stack: its RTO code.",
    decides: "the factor of the RTT deviation",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.timeout.factor = values.number("factor");
}

//! The floor of the retransmission timer.

use airtcp_units::Duration;

use crate::{Changes, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "min-rto",
    place: Place::Sender,
    effect: "sets the shortest retransmission timeout: lower repairs sooner, higher rides out \
             delay spikes",
    source: "RFC 6298 §2.4",
    parameters: &[Parameter {
        name: "min",
        unit: "",
        default: Quantity::Time(Duration::from_secs(1)),
        minimum: Quantity::Time(Duration::from_millis(1)),
        maximum: Quantity::Time(Duration::from_secs(60)),
        effect: "the shortest timeout; RFC 6298 says 1 s, common stacks 200 ms",
    }],
    deployment: "Linux: ip route change ROUTE rto_min 1s (a route's value wins); since 6.11 also \
                 sysctl net.ipv4.tcp_rto_min_us=1000000; for chosen sockets, a sock_ops BPF \
                 program with TCP_BPF_RTO_MIN. Linux puts the floor under the deviation term: its \
                 timeout is never below smoothed RTT + this.",
    decides: "the least RTO",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.timeout.min = values.time("min");
}

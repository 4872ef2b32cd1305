//! The floor of the retransmission timer.

use airtcp_units::Duration;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "min-rto",
    place: Place::Sender,
    effect: "sets the minimum retransmission timeout: a lower one repairs losses sooner, a higher \
             one rides out delay spikes",
    source: "RFC 6298 §2.4",
    parameters: &[Parameter {
        name: "min",
        unit: "",
        default: Quantity::Time(Duration::from_secs(1)),
        minimum: Quantity::Time(Duration::from_millis(1)),
        maximum: Quantity::Time(Duration::from_secs(60)),
        effect: "the minimum timeout; 1 s in RFC 6298, 200 ms in common stacks",
    }],
    deployment: Deployment::by(&[
        Way::new(
            At::Sender,
            &[Step::sysctl(
                "net.ipv4.tcp_rto_min_us",
                Setting::Microseconds("min"),
            )],
        )
        .since("6.11"),
        Way::new(
            At::Sender,
            &[Step::route("rto_min", Setting::Milliseconds("min"))],
        ),
    ])
    .noting(
        "A route's value wins over the namespace's. Linux puts the floor under the deviation \
         term: its timeout is never below the smoothed RTT plus this. For chosen sockets there is \
         TCP_BPF_RTO_MIN in a sock_ops program, within 8 to 200 ms.",
    ),
    decides: "the least RTO",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.timeout.min = values.time("min");
}

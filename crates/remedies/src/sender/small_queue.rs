//! A small share of each flow queued in the sender's wireless device.

use crate::deployment::{At, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "small-queue",
    place: Place::Sender,
    effect: "limits a flow's packets in the sender's wireless device; the rest waits in the \
             socket, where it delays no other flow",
    source: "Linux, TCP small queues (net/ipv4/tcp_output.c); net/mac80211/main.c, \
             tx_sk_pacing_shift",
    parameters: &[Parameter {
        name: "shift",
        unit: "",
        default: Quantity::Count(7),
        minimum: Quantity::Count(0),
        maximum: Quantity::Count(31),
        effect: "2^-shift seconds of the flow's rate may wait in the device: 7 is 8 ms, 10 is 1 ms",
    }],
    deployment: Deployment::by(&[Way::new(At::Sender, &[])
        .instead("with the shift that the driver asks for, 7 unless it says otherwise")])
    .noting("The shift is compiled into the driver."),
    decides: "how much of a flow waits in the sender's device",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.small_queue = true;
    changes.tcp.pacing_shift = values.count("shift");
}

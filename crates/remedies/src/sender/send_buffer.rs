//! The sender's buffer.

use crate::choices::LARGEST_WINDOW;
use crate::deployment::{At, Setting, Step, Way};
use crate::key::key;
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "send-buffer",
    place: Place::Sender,
    effect: "sets the limit on written, unacknowledged data: below the bandwidth-delay product it \
             leaves the link idle",
    source: "Semke, Mahdavi & Mathis, Automatic TCP buffer tuning, SIGCOMM 1998; Linux, tcp(7), \
             tcp_wmem",
    parameters: &[
        Parameter::key("bytes", key!(send_buffer), Quantity::Count(4 << 20)).advised(
            "twice the link's rate times the round trip, since a blocked writer is woken only once \
             a third is free and losses are repaired from it",
        ),
    ],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::sysctl(
            "net.ipv4.tcp_wmem",
            Setting::BufferSizes {
                first: 16_384,
                parameter: "bytes",
                unit: 1,
            },
        )],
    )])
    .noting(
        "The sysctl's third number is the largest that the kernel lets a buffer grow to; a program \
         that sets SO_SNDBUF itself switches that growth off, and is bounded by \
         net.core.wmem_max: there the program has to ask for more or not at all.",
    ),
    decides: LARGEST_WINDOW,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let bytes = u64::from(values.count("bytes"));
    // On a real host nothing else of the sender's bounds the data in flight: a scenario's
    // `max_window` is there for such a buffer.
    let mss = u64::from(changes.tcp.mss);
    if changes
        .tcp
        .max_window
        .is_some_and(|segments| u64::from(segments) * mss < bytes)
    {
        changes.tcp.max_window = None;
    }
}

//! The receiver's buffer.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

use super::LARGEST_OFFER;

pub(crate) const REMEDY: Remedy = Remedy {
    name: "receive-buffer",
    place: Place::Receiver,
    effect: "sets the maximum receive buffer and so the largest advertised window: below the \
             bandwidth-delay product it leaves the link idle",
    source: "Fisk & Feng, Dynamic right-sizing in TCP, LACSI 2001; RFC 7323 §2; Linux, tcp(7), \
             tcp_rmem",
    parameters: &[Parameter {
        name: "bytes",
        unit: "bytes",
        default: Quantity::Count(8 << 20),
        minimum: Quantity::Count(4_096),
        maximum: Quantity::Count(1 << 30),
        effect: "capacity for unread and out-of-order data; twice the link's rate times the round \
                 trip, since data buffered behind a gap waits one more round trip",
    }],
    deployment: Deployment::by(&[Way::new(
        At::Receiver,
        &[Step::sysctl(
            "net.ipv4.tcp_rmem",
            Setting::BufferSizes {
                first: 131_072,
                parameter: "bytes",
                unit: 1,
            },
        )],
    )])
    .noting(
        "The sysctl's third number is the largest that the kernel lets a buffer grow to; a program \
         that sets SO_RCVBUF itself switches that growth off, and is bounded by \
         net.core.rmem_max: there the program has to ask for more or not at all.",
    ),
    decides: LARGEST_OFFER,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.receive_buffer = u64::from(values.count("bytes"));
}

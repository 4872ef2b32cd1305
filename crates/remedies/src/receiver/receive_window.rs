//! A bound on a sender's data in flight, set by its receiver.

use airtcp_tcp::config::ReceiveWindow;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

use super::LARGEST_OFFER;

pub(crate) const REMEDY: Remedy = Remedy {
    name: "receive-window",
    place: Place::Receiver,
    effect: "caps the sender's data in flight: a client's remedy for the queue of its download",
    source: "RFC 9293 §3.8.6; Spring et al., Receiver Based Management of Low Bandwidth Access \
             Links, INFOCOM 2000",
    parameters: &[Parameter {
        name: "bytes",
        unit: "bytes",
        default: Quantity::Count(65_536),
        minimum: Quantity::Count(4_096),
        maximum: Quantity::Count(1 << 30),
        effect: "the largest window offered; the link's rate times the round trip that you want",
    }],
    deployment: Deployment::by(&[Way::new(
        At::Receiver,
        &[Step::route("window", Setting::Parameter("bytes"))],
    )
    .instead("a clamp of the window; Linux may advertise up to twice as much")])
    .noting("A program can set SO_RCVBUF or TCP_WINDOW_CLAMP on its socket."),
    decides: LARGEST_OFFER,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.receive_buffer = u64::from(values.count("bytes"));
    changes.tcp.receive_window = ReceiveWindow::Fixed;
}

//! Short segments that do not wait.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "nodelay",
    place: Place::Sender,
    effect: "sends short segments at once instead of waiting for outstanding ACKs (disables Nagle)",
    source: "RFC 9293 §3.7.4; tcp(7), TCP_NODELAY",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::SocketOption {
            name: "TCP_NODELAY",
            value: Setting::Fixed("1"),
        }],
    )])
    .noting(
        "Better still, the program writes each message at once: writev(2), or TCP_CORK around \
         the parts.",
    ),
    decides: "when a short segment leaves",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.nagle = false;
}

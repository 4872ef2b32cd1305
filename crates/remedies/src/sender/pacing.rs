//! Segments at a pace.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "pacing",
    place: Place::Sender,
    effect: "spreads segments evenly over the round trip instead of sending them as ACKs arrive",
    source: "Aggarwal, Savage & Anderson, Understanding the performance of TCP pacing, INFOCOM \
             2000; Linux, tcp_update_pacing_rate",
    parameters: &[],
    deployment: Deployment::by(&[
        Way::new(
            At::Sender,
            &[Step::Qdisc {
                words: "fq",
                value: Setting::Fixed(""),
            }],
        ),
        Way::new(
            At::Sender,
            &[Step::SocketOption {
                name: "SO_MAX_PACING_RATE",
                value: Setting::Fixed("18446744073709551614"),
            }],
        ),
    ]),
    decides: "when segments leave",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.pacing = true;
}

//! Shorter segments where long ones never arrive.

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "mtu-probing",
    place: Place::Sender,
    effect: "falls back to shorter segments when the path drops long ones, and later probes longer \
             ones",
    source: "RFC 4821; Linux, tcp_mtu_probing",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::fixed_sysctl("net.ipv4.tcp_mtu_probing", "1")],
    )])
    .noting(
        "A connection finds the hole after its first timeouts, so that the first transfer still \
         waits some seconds. No model of a path here has an MTU: in a simulation it changes \
         nothing.",
    ),
    decides: "how long segments are on a path that swallows long ones",
    apply,
};

fn apply(_: &Values<'_>, _: &mut Changes<'_>) {}

//! Losses by time, and a probe of a silent tail.

use airtcp_tcp::config::LossDetection;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "rack-tlp",
    place: Place::Sender,
    effect: "declares a segment lost when one sent later has been delivered, and probes for lost \
             tails",
    source: "RFC 8985",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::BothEnds,
        &[
            Step::fixed_sysctl("net.ipv4.tcp_sack", "1"),
            Step::fixed_sysctl("net.ipv4.tcp_recovery", "1"),
            Step::fixed_sysctl("net.ipv4.tcp_early_retrans", "3"),
        ],
    )])
    .noting("This is the default; the last two matter at the sender alone."),
    decides: "what makes a segment believed lost",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.sack = true;
    changes.tcp.loss_detection = LossDetection::Rack;
    changes.tcp.tail_loss_probe = true;
}

//! Losses by time, and a probe of a silent tail.

use airtcp_tcp::config::LossDetection;

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "rack-tlp",
    place: Place::Sender,
    effect: "takes a segment for lost when one sent later has arrived, and probes a tail that \
             is silent",
    source: "RFC 8985",
    parameters: &[],
    deployment: "Linux: the default, with SACK; sysctl net.ipv4.tcp_recovery, \
                 net.ipv4.tcp_early_retrans.",
    decides: "what makes a segment believed lost",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.sack = true;
    changes.tcp.loss_detection = LossDetection::Rack;
    changes.tcp.tail_loss_probe = true;
}

//! After a timeout, only the segment whose timer expired.

use airtcp_tcp::config::Retransmission;

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "selective-repeat",
    place: Place::Sender,
    effect: "after a timeout resends the expired segment alone; each segment has its own timer",
    source: "Miyim §IV (\"select-N-repeat\")",
    parameters: &[],
    deployment: "Linux: no knob; one timer a connection, and all outstanding data counts as lost \
                 after it. With SACK, what arrived is not sent again: sysctl net.ipv4.tcp_sack=1.",
    decides: "what is resent after a timeout",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.retransmission = Retransmission::SelectiveRepeat;
}

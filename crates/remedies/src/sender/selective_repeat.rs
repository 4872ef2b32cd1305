//! After a timeout, only the segment whose timer expired.

use airtcp_tcp::config::Retransmission;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "selective-repeat",
    place: Place::Sender,
    effect: "retransmits only the expired segment after a timeout; each segment has its own timer",
    source: "Miyim §IV (\"select-N-repeat\")",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::BothEnds,
        &[Step::fixed_sysctl("net.ipv4.tcp_sack", "1")],
    )
    .instead(
        "one timer a connection: after a timeout all that SACK has not reported counts as lost",
    )]),
    decides: "what is retransmitted after a timeout",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.retransmission = Retransmission::SelectiveRepeat;
}

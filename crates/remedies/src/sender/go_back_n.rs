//! After a timeout, everything again.

use airtcp_tcp::config::Retransmission;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "go-back-n",
    place: Place::Sender,
    effect: "retransmits all outstanding data in order after a timeout, starting at the expired \
             segment",
    source: "Miyim §IV (\"trace-N-retransmit\"); RFC 5681 §3.1, RFC 2018 §5.1",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::fixed_sysctl("net.ipv4.tcp_frto", "0")],
    )])
    .noting(
        "On a timeout Linux marks everything lost that was not selectively acknowledged; without \
         F-RTO it retransmits that at once.",
    ),
    decides: "what is retransmitted after a timeout",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.retransmission = Retransmission::GoBackN;
}

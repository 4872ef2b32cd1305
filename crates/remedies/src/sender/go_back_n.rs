//! After a timeout, everything again.

use airtcp_tcp::config::Retransmission;

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "go-back-n",
    place: Place::Sender,
    effect: "after a timeout resends all outstanding data in order, from the expired segment",
    source: "Miyim §IV (\"trace-N-retransmit\"); RFC 5681 §3.1, RFC 2018 §5.1",
    parameters: &[],
    deployment: "Linux: what it does already; on a timeout it marks lost all that was not \
                 selectively acknowledged. sysctl net.ipv4.tcp_frto=0 keeps F-RTO from first \
                 testing whether the timeout was spurious.",
    decides: "what is resent after a timeout",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.retransmission = Retransmission::GoBackN;
}

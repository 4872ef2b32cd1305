//! Reports of duplicates show that a recovery was needless.

use airtcp_tcp::config::SpuriousResponse;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "dsack-undo",
    place: Place::Sender,
    effect: "undoes a recovery when every retransmission is reported as a duplicate",
    source: "RFC 3708 §2; Linux, tcp_try_undo_dsack",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::BothEnds,
        &[
            Step::fixed_sysctl("net.ipv4.tcp_sack", "1"),
            Step::fixed_sysctl("net.ipv4.tcp_dsack", "1"),
        ],
    )])
    .noting("This is the default; the receiver sends the reports."),
    decides: "whether reports of duplicates take recoveries back",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.sack = true;
    changes.tcp.dsack = true;
    changes.tcp.spurious_detection.dsack_undo = true;
    if changes.tcp.spurious_response == SpuriousResponse::None {
        changes.tcp.spurious_response = SpuriousResponse::Restore;
    }
}

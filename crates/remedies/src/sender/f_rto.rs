//! New data shows that a timeout was spurious.

use airtcp_tcp::config::SpuriousResponse;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "f-rto",
    place: Place::Sender,
    effect: "sends new data after a timeout and undoes the timeout if data that was never \
             retransmitted is acknowledged",
    source: "RFC 5682",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::fixed_sysctl("net.ipv4.tcp_frto", "2")],
    )])
    .noting("This is the default."),
    decides: "whether timeouts are tested with new data",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.spurious_detection.frto = true;
    if changes.tcp.spurious_response == SpuriousResponse::None {
        changes.tcp.spurious_response = SpuriousResponse::Restore;
    }
}

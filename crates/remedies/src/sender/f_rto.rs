//! New data shows that a timeout was spurious.

use airtcp_tcp::config::SpuriousResponse;

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "f-rto",
    place: Place::Sender,
    effect: "tries new data after a timeout, and takes it back if what was not sent again is \
             acknowledged",
    source: "RFC 5682",
    parameters: &[],
    deployment: "Linux: sysctl net.ipv4.tcp_frto=2 (the default).",
    decides: "whether timeouts are tested with new data",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.spurious_detection.frto = true;
    if changes.tcp.spurious_response == SpuriousResponse::None {
        changes.tcp.spurious_response = SpuriousResponse::Restore;
    }
}

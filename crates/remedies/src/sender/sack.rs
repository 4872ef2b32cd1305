//! Recovery from selective acknowledgments.

use airtcp_tcp::Profile;

use crate::{Changes, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "sack",
    place: Place::Sender,
    effect: "repairs several losses in a round trip from what the receiver says it holds",
    source: "RFC 2018, RFC 6675",
    parameters: &[],
    deployment: "Linux: sysctl net.ipv4.tcp_sack=1 on both ends (the default).",
    decides: "how losses are repaired",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    super::repair_as(Profile::Sack, changes);
}

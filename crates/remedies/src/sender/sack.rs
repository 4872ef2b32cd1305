//! Recovery from selective acknowledgments.

use airtcp_tcp::Profile;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "sack",
    place: Place::Sender,
    effect: "repairs several losses per round trip, guided by the receiver's selective \
             acknowledgments",
    source: "RFC 2018, RFC 6675",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::BothEnds,
        &[Step::fixed_sysctl("net.ipv4.tcp_sack", "1")],
    )])
    .noting("This is the default."),
    decides: "how losses are repaired",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    super::repair_as(Profile::Sack, changes);
}

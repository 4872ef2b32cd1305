//! Fast recovery that outlasts partial acknowledgments.

use airtcp_tcp::Profile;

use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "newreno",
    place: Place::Sender,
    effect: "fast recovery through partial acknowledgments: one lost segment a round trip",
    source: "RFC 6582",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[
            Step::fixed_sysctl("net.ipv4.tcp_sack", "0"),
            Step::CongestionControl { name: "reno" },
        ],
    )]),
    decides: "how losses are repaired",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    super::repair_as(Profile::NewReno, changes);
}

//! Fast retransmit without fast recovery.

use airtcp_tcp::Profile;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "tahoe",
    place: Place::Sender,
    effect: "after three duplicate acknowledgments slow-starts from one segment",
    source: "Jacobson, Congestion Avoidance and Control, SIGCOMM 1988",
    parameters: &[],
    deployment: Deployment::none("The recovery of Linux is that of NewReno or SACK."),
    decides: "how losses are repaired",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    super::repair_as(Profile::Tahoe, changes);
}

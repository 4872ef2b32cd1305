//! A window that shrinks by one for two acknowledged.

use airtcp_tcp::config::Reduction;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "rate-halving",
    place: Place::Sender,
    effect: "sends one segment per two acknowledged until the window has halved",
    source: "Mathis, Semke & Mahdavi, The rate-halving algorithm, 1999; Linux 2.4",
    parameters: &[],
    deployment: Deployment::none("Linux replaced it by PRR in version 3.2."),
    decides: "how the window gets to where a loss puts it",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.reduction = Reduction::RateHalving;
}

//! A window that shrinks in proportion to delivered data.

use airtcp_tcp::config::Reduction;

use crate::deployment::Way;
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "prr",
    place: Place::Sender,
    effect: "reduces the window in proportion to delivered data instead of at once",
    source: "RFC 6937 and its successor, RFC 9937",
    parameters: &[],
    deployment: Deployment::by(&[Way::BY_ITSELF]),
    decides: "how the window gets to where a loss puts it",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.reduction = Reduction::Proportional;
}

//! Slow start that slows down before it ends.

use airtcp_tcp::config::SlowStart;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "hystart-plus-plus",
    place: Place::Sender,
    effect: "slows slow start down when round trips grow, and ends it five round trips later",
    source: "RFC 9406",
    parameters: &[],
    deployment: Deployment::none("The default of Windows and of Apple's systems; not in Linux."),
    decides: "how slow start ends",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.slow_start = SlowStart::HyStartPlusPlus;
}

//! Fast recovery of the first kind.

use airtcp_tcp::Profile;

use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "reno",
    place: Place::Sender,
    effect: "fast recovery that ends at the first new acknowledgment: one loss a window",
    source: "RFC 2581 §3.2",
    parameters: &[],
    deployment: Deployment::none(
        "The congestion control that Linux calls reno is the window rule alone; its recovery \
         without SACK is NewReno's.",
    ),
    decides: "how losses are repaired",
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    super::repair_as(Profile::Reno, changes);
}

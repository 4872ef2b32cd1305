//! From which mean the deviation of a round trip is taken.

use airtcp_tcp::config::DeviationFrom;

use crate::deployment::Way;
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "rto-deviation",
    place: Place::Sender,
    effect: "computes each sample's deviation from the mean that already includes it: 7/8 of the \
             standard's",
    source: "Miyim §III, eq. 2; Fotiadis & Siris, eq. 2; RFC 6298 §2.3 takes the mean before",
    parameters: &[Parameter {
        name: "updated",
        unit: "",
        default: Quantity::Count(1),
        minimum: Quantity::Count(0),
        maximum: Quantity::Count(1),
        effect: "1: from the mean after the sample; 0: from the mean before it",
    }],
    deployment: Deployment::by(&[Way::BY_ITSELF.when("updated", 0)])
        .noting("Linux takes the mean before the sample, and has no setting for it."),
    decides: "the mean that deviations are taken from",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.timeout.deviation_from = if values.is_on("updated") {
        DeviationFrom::UpdatedMean
    } else {
        DeviationFrom::PreviousMean
    };
}

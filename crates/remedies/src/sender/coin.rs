//! A coin in place of a classifier.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "coin",
    place: Place::Sender,
    effect: "like newzag, but classifies each loss as random with a fixed probability",
    source: "a control for the others (Lien et al. has none)",
    parameters: &[Parameter {
        name: "q",
        unit: "",
        default: Quantity::Number(0.4),
        minimum: Quantity::Number(0.0),
        maximum: Quantity::Number(1.0),
        effect: "how often a loss is called random",
    }],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::BpfCongestionControl {
            name: "coin",
            constant: "radio_per_mille",
            value: Setting::Thousandths("q"),
        }],
    )
    .since("6.4")])
    .noting("A larger factor of reduction comes to the same: (1 - q)/2 + 4/5 q."),
    decides: "how a loss is classified",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::Coin {
        radio_probability: values.number("q"),
    });
}

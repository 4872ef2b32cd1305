//! A retransmission timer that allows for more variation.

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "rto-factor",
    place: Place::Sender,
    effect: "sets the number of mean deviations (m) in the retransmission timeout, in place of 4",
    source: "Miyim, Techniques for Throughput Enhancement in Wireless Networks, §III, eq. 3; RFC \
             6298 §2.3 (K = 4)",
    parameters: &[Parameter {
        name: "factor",
        unit: "",
        default: Quantity::Number(10.0),
        minimum: Quantity::Number(0.5),
        maximum: Quantity::Number(1000.0),
        effect: "m in RTO = smoothed RTT + m × smoothed mean deviation",
    }],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[Step::route("rto_min", Setting::Deviations("factor"))],
    )
    .instead(
        "a floor under the deviation term: it equals m times the mean deviation measured before, \
         and does not follow it",
    )])
    .noting(
        "The factor 4 is compiled into Linux. A splitting proxy with its own stack can use the \
         factor itself.",
    ),
    decides: "the factor of the RTT deviation",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.timeout.factor = values.number("factor");
}

//! Veno's question with NewZag's answer.

use airtcp_tcp::loss_differentiation::Differentiation;

use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "veno-classifier",
    place: Place::Sender,
    effect: "like newzag, but classifies a loss as congestion where Veno's estimate shows a \
             backlog",
    source: "Fu & Liew, TCP Veno, JSAC 21(2), 2003, §II",
    parameters: &[Parameter {
        name: "beta",
        unit: "segments",
        default: Quantity::Number(3.0),
        minimum: Quantity::Number(0.0),
        maximum: Quantity::Number(1000.0),
        effect: "backlog from which on a loss means congestion",
    }],
    deployment: Deployment::none(
        "Not in Linux: it needs a congestion control in BPF or a kernel module.",
    ),
    decides: "how a loss is classified",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.differentiation = Some(Differentiation::Veno {
        beta: values.number("beta"),
    });
}

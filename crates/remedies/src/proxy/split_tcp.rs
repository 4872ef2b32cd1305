//! Split TCP.

use crate::{Changes, Deployment, LinkChange, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "split-tcp",
    place: Place::Proxy,
    effect: "terminates each connection at the access point and opens another to the mobile: radio \
             losses are repaired locally; acknowledgments no longer mean that the other end has \
             the data",
    source: "Bakre & Badrinath, I-TCP, ICDCS 1995",
    parameters: &[Parameter::count(
        "buffer",
        "bytes",
        262_144,
        (1, 1 << 30),
        "most that the proxy holds for one side",
    )],
    deployment: Deployment::between_the_ends(
        "proxy --transparent",
        "airtcp proxy --transparent on the access point, or on a router before it, does it \
         (docs/guides/proxy.md).",
    ),
    decides: "whether connections are split",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.link.push(LinkChange::Split {
        buffer: u64::from(values.count("buffer")),
    });
}

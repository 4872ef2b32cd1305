//! Random losses told from congestion by round trip and their number.

use airtcp_tcp::loss_differentiation::{Differentiation, ZigZagTable};

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "newzag",
    place: Place::Sender,
    effect: "shrinks the window by a fifth only after losses that come with a short round trip; \
             can flood a queue",
    source: "Lien, Reeve & Lee, Improving TCP Performance Over Wireless Networks, §II",
    parameters: &[Parameter {
        name: "adjusted",
        unit: "",
        default: Quantity::Count(0),
        minimum: Quantity::Count(0),
        maximum: Quantity::Count(1),
        effect: "1 for the adjusted classifier, which takes up to three losses below the mean \
                 round trip for random: at a queue that stays full every other loss, so more than \
                 ten segments and a fifth of the window lost in one repair are congestion for it, \
                 too; with that it flooded no queue in 882 transfers",
    }],
    deployment: Deployment::by(&[Way::new(
        At::Sender,
        &[
            Step::fixed_sysctl("net.ipv4.tcp_sack", "1"),
            Step::BpfCongestionControl {
                name: "newzag",
                constant: "adjusted",
                value: Setting::Parameter("adjusted"),
            },
        ],
    )
    .since("6.4")]),
    decides: "how a loss is classified",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.sack = true;
    let table = if values.is_on("adjusted") {
        ZigZagTable::NEWZAG_ADJUSTED
    } else {
        ZigZagTable::NEWZAG
    };
    changes.tcp.bounded_radio = true;
    changes.tcp.differentiation = Some(Differentiation::ZigZag(table));
}

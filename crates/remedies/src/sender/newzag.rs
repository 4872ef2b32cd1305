//! Random losses distinguished from congestion by round-trip time and number of losses.

use airtcp_tcp::loss_differentiation::{Differentiation, ZigZagTable};

use crate::deployment::{At, Setting, Step, Way};
use crate::{Changes, Deployment, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "newzag",
    place: Place::Sender,
    effect: "reduces the window by only a fifth after losses with a short round trip (judged \
             random); can flood a queue",
    source: "Lien, Reeve & Lee, Improving TCP Performance Over Wireless Networks, §II",
    parameters: &[
        Parameter {
            name: "adjusted",
            unit: "",
            default: Quantity::Count(0),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(1),
            effect: "1 for the adjusted classifier (§III-B), which takes up to three losses below \
                     the mean round trip for random: at a queue that stays full every other loss",
        },
        Parameter {
            name: "alpha",
            unit: "",
            default: Quantity::Number(0.0625),
            minimum: Quantity::Number(0.001),
            maximum: Quantity::Number(0.5),
            effect: "the gain of the mean round trip; that of its deviation is twice this (§II-A: \
                     2⁻⁸ to 2⁻², best 2⁻⁴)",
        },
        Parameter {
            name: "keeps",
            unit: "%",
            default: Quantity::Count(80),
            minimum: Quantity::Count(50),
            maximum: Quantity::Count(100),
            effect: "the share of the window that a random loss leaves (§II-B: four fifths)",
        },
        Parameter {
            name: "bounded",
            unit: "",
            default: Quantity::Count(1),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(1),
            effect: "1: a recovery counts as congestion, whatever the round trip, if it lost more \
                     than ten segments and more of the window than a random loss takes, so that a \
                     full queue is not flooded; 0: as in the paper",
        },
    ],
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
    .since("6.4")])
    .noting("In the kernel alpha, keeps and bounded have their defaults."),
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
    changes.tcp.bounded_radio = values.is_on("bounded");
    // Bounds of the parameter: it fits.
    changes.tcp.radio_keeps_percent = values.count("keeps") as u8;
    changes.tcp.differentiation = Some(Differentiation::ZigZag(ZigZagTable {
        gain: values.number("alpha"),
        ..table
    }));
}

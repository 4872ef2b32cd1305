//! Random losses distinguished from congestion by round-trip time and number of losses: ZigZag, and
//! NewZag, which comes from it.

use airtcp_tcp::Config;
use airtcp_tcp::loss_differentiation::{Differentiation, ZigZagTable};

use crate::choices::CAUSE_OF_LOSS;
use crate::deployment::{At, Setting, Step, Way};
use crate::{Deployment, Parameter, Place, Remedy};

/// Counts losses by SACK, and classifies them by `table`.
fn classify(tcp: &mut Config, table: ZigZagTable) {
    tcp.sack = true;
    tcp.differentiation = Some(Differentiation::ZigZag(table));
}

pub(crate) const NEWZAG: Remedy = Remedy::new("newzag", Place::Sender)
    .effect(
        "reduces the window by only a fifth after losses with a short round trip (judged random); \
         can flood a queue",
    )
    .from("Lien, Reeve & Lee, Improving TCP Performance Over Wireless Networks, §II")
    .decides(CAUSE_OF_LOSS)
    .takes(&[
        Parameter::switch(
            "adjusted",
            0,
            "1 for the adjusted classifier (§III-B), which takes up to three losses below the mean \
             round trip for random: at a queue that stays full every other loss",
        ),
        Parameter::number(
            "alpha",
            "",
            0.0625,
            (0.001, 0.5),
            "the gain of the mean round trip; that of its deviation is twice this (§II-A: 2⁻⁸ to \
             2⁻², best 2⁻⁴)",
        ),
        Parameter::count(
            "keeps",
            "%",
            80,
            (50, 100),
            "the share of the window that a random loss leaves (§II-B: four fifths)",
        ),
        Parameter::switch(
            "bounded",
            1,
            "1: a recovery counts as congestion, whatever the round trip, if it lost more than ten \
             segments and more of the window than a random loss takes, so that a full queue is not \
             flooded; 0: as in the paper",
        ),
    ])
    .sets(|values, to| {
        let table = match values.is_on("adjusted") {
            true => ZigZagTable::NEWZAG_ADJUSTED,
            false => ZigZagTable::NEWZAG,
        };
        let gain = values.number("alpha");
        classify(to.tcp, ZigZagTable { gain, ..table });
        to.tcp.bounded_radio = values.is_on("bounded");
        // Bounds of the parameter: it fits.
        to.tcp.radio_keeps_percent = values.count("keeps") as u8;
    })
    .by(Deployment::by(&[Way::new(
        At::Sender,
        &[
            Step::fixed_sysctl("net.ipv4.tcp_sack", "1"),
            Step::BpfCongestionControl {
                name: "newzag",
                object: None,
                constant: "adjusted",
                value: Setting::Parameter("adjusted"),
            },
        ],
    )
    .since("6.4")])
    .noting("In the kernel alpha, keeps and bounded have their defaults."));

pub(crate) const ZIGZAG: Remedy = Remedy::new("zigzag", Place::Sender)
    .effect("like newzag, with the thresholds of ZigZag")
    .from(
        "Cen, Cosman & Voelker, End-to-end differentiation of congestion and wireless losses, \
         ToN 11(5), 2003, §III.C",
    )
    .decides(CAUSE_OF_LOSS)
    .takes(&[Parameter::switch(
        "strict",
        0,
        "1 for the published variant in which three losses must come with as short a round trip as \
         one",
    )])
    .sets(|values, to| {
        classify(
            to.tcp,
            match values.is_on("strict") {
                true => ZigZagTable::STRICT,
                false => ZigZagTable::CEN,
            },
        );
    })
    .no_way("Not in Linux: it needs a congestion control in BPF or a kernel module.");

//! Snoop.

use std::num::NonZeroUsize;

use airtcp_link::agent::snoop::SnoopConfig;
use airtcp_link::agent::{AgentConfig, LocalTimeout};

use crate::{Changes, Deployment, Parameter, Place, Remedy, Values};

use super::LOCAL_TIMER;

pub(crate) const REMEDY: Remedy = Remedy {
    name: "snoop",
    place: Place::AccessPoint,
    effect: "caches packets for the mobile, retransmits lost ones locally and suppresses duplicate \
             acknowledgments to the sender",
    source: "Balakrishnan, Seshan, Amir & Katz, MOBICOM 1995",
    parameters: &[
        Parameter::count(
            "packets",
            "packets",
            100,
            (1, 1_000_000),
            "copies kept for a connection",
        ),
        Parameter::count(
            "repeats",
            "times",
            10,
            (0, 1000),
            "most retransmissions of a copy",
        ),
        LOCAL_TIMER,
    ],
    deployment: Deployment::between_the_ends(
        "gateway snoop",
        "airtcp gateway snoop on the access point, or on a router before it, does it \
         (docs/guides/gateway.md).",
    ),
    decides: "whether the access point repairs losses",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let packets = NonZeroUsize::new(values.count("packets") as usize);
    changes.install(AgentConfig::Snoop(SnoopConfig {
        packets: packets.unwrap_or(NonZeroUsize::MIN),
        most_repeats: values.count("repeats"),
        timeout: LocalTimeout {
            min: values.time("timer"),
            ..LocalTimeout::default()
        },
        ..SnoopConfig::default()
    }));
}

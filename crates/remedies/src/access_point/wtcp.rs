//! WTCP.

use std::num::NonZeroUsize;

use airtcp_link::agent::wtcp::WtcpConfig;
use airtcp_link::agent::{AgentConfig, LocalTimeout};
use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Remedy, Values};

use super::LOCAL_TIMER;

pub(crate) const REMEDY: Remedy = Remedy {
    name: "wtcp",
    place: Place::AccessPoint,
    effect: "retransmits lost packets from the access point and adds their time there to the \
             echoed timestamp, which hides the radio from the sender's round trips",
    source: "Ratnam & Matta, WTCP, ISCC 1998",
    parameters: &[
        Parameter::count(
            "window",
            "packets",
            32,
            (1, 1_000_000),
            "maximum packets in flight to the mobile",
        ),
        Parameter::count(
            "packets",
            "packets",
            256,
            (1, 1_000_000),
            "packets kept for a connection",
        ),
        Parameter::time(
            "tick",
            Duration::from_millis(1),
            (Duration::ZERO, Duration::from_secs(1)),
            "tick of the source's timestamp clock; 0 s leaves echoes unchanged",
        ),
        LOCAL_TIMER,
    ],
    deployment: Deployment::between_the_ends(
        "gateway wtcp",
        "airtcp gateway wtcp on the access point, or on a router before it, does it \
         (docs/guides/gateway.md).",
    ),
    decides: "whether the access point repairs losses",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let count = |name| NonZeroUsize::new(values.count(name) as usize).unwrap_or(NonZeroUsize::MIN);
    changes.install(AgentConfig::Wtcp(WtcpConfig {
        window: count("window"),
        packets: count("packets"),
        tick: values.time("tick"),
        timeout: LocalTimeout {
            min: values.time("timer"),
            ..LocalTimeout::default()
        },
        ..WtcpConfig::default()
    }));
}

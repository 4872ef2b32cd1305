//! Static delay injection.

use airtcp_link::agent::AgentConfig;
use airtcp_link::agent::delay_injection::StaticDelay;
use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Remedy, Values};

use super::{PERIOD, at_random, distance, one_in};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "static-delay",
    place: Place::AccessPoint,
    effect: "delays every n-th acknowledgment to a mobile sender by a fixed time",
    source: "Klein, Leung, Parkinson & Samuel, GLOBECOM 2004, as Fotiadis & Siris §II tell it",
    parameters: &[
        Parameter::time(
            "delay",
            Duration::from_millis(100),
            (Duration::ZERO, Duration::from_secs(60)),
            "how long an acknowledgment is held",
        ),
        one_in("one in this many is held"),
        PERIOD,
        at_random(0),
    ],
    deployment: Deployment::between_the_ends(
        "gateway static-delay",
        "airtcp gateway static-delay on the access point, or on a router before it, does it \
         (docs/guides/gateway.md).",
    ),
    decides: "which acknowledgments the access point delays",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.install(AgentConfig::StaticDelay(StaticDelay {
        delay: values.time("delay"),
        every: distance(values),
    }));
}

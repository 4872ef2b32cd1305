//! Random delay injection.

use airtcp_link::agent::AgentConfig;
use airtcp_link::agent::delay_injection::RandomDelay;
use airtcp_units::Duration;

use crate::{Changes, Deployment, Parameter, Place, Remedy, Values};

use super::{PERIOD, at_random, distance, one_in};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "random-delay",
    place: Place::AccessPoint,
    effect: "delays acknowledgments to a mobile sender at random times by random amounts",
    source: "Klein, Leung, Parkinson & Samuel, GLOBECOM 2004, as Fotiadis & Siris §II tell it",
    parameters: &[
        Parameter::time(
            "mean",
            Duration::from_millis(100),
            (Duration::ZERO, Duration::from_secs(30)),
            "mean of the delay, which is uniform from zero to twice this",
        ),
        one_in("one in this many is held, on average"),
        PERIOD,
        at_random(1),
    ],
    deployment: Deployment::between_the_ends(
        "gateway random-delay",
        "airtcp gateway random-delay on the access point, or on a router before it, does it \
         (docs/guides/gateway.md).",
    ),
    decides: "which acknowledgments the access point delays",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.install(AgentConfig::RandomDelay(RandomDelay {
        mean: values.time("mean"),
        every: distance(values),
    }));
}

//! A shaper with a rate that follows the delay of the link after it.

use airtcp_link::frame::RetryLimit;
use airtcp_link::{AutorateConfig, CakeConfig, Discipline};
use airtcp_units::{BitRate, Duration};

use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

use super::WHICH_PACKET;

/// A delay beyond the shaper, in excess of the idle link's.
const fn delay(name: &'static str, millis: u64, effect: &'static str) -> Parameter {
    Parameter::time(
        name,
        Duration::from_millis(millis),
        (Duration::from_millis(1), Duration::from_secs(10)),
        effect,
    )
}

pub(crate) const REMEDY: Remedy = Remedy {
    name: "autorate",
    place: Place::Link,
    effect: "shapes with CAKE to a rate that follows the link's delay: up while the link is used \
             without queueing, down when probes are delayed",
    source: "cake-autorate (github.com/lynxthecat/cake-autorate, README.md, defaults.sh and \
             cake-autorate.sh)",
    parameters: &[
        Parameter::limit(
            "base",
            "kbit/s",
            64,
            "the rate at which it begins, and to which it returns when little is sent; \
             unlimited: the link's mean rate",
        ),
        Parameter::number(
            "min",
            "of base",
            0.25,
            (0.01, 1.0),
            "the minimum rate; the link's at its slowest",
        ),
        Parameter::number(
            "max",
            "times base",
            4.0,
            (1.0, 100.0),
            "the maximum rate; the link's at its fastest",
        ),
        delay(
            "threshold",
            30,
            "one-way delay over that of the idle link above which a probe counts as delayed; three \
             of six have the rate fall",
        ),
        delay(
            "fast-rise",
            10,
            "average of these delays up to which the rate rises as fast as it can",
        ),
        delay(
            "fast-fall",
            60,
            "average from which it falls as fast as it can",
        ),
    ],
    deployment: Deployment::none(
        "By hand, on the router before the link: install cake-autorate, and set \
         `min_dl_shaper_rate_kbps`, `base_dl_shaper_rate_kbps`, `max_dl_shaper_rate_kbps` and \
         `dl_owd_delta_delay_thr_ms` (`ul` for uploads) to the rates and the threshold. No way \
         from here, because it is a service that probes hosts on the Internet and changes the \
         qdisc several times a second: airtcp deploys only settings that it can record once and \
         restore.",
    ),
    decides: WHICH_PACKET,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    let rate = match values.limit("base") {
        RetryLimit::Unlimited => None,
        RetryLimit::Attempts(kilobits) => Some(BitRate::from_bps(u64::from(kilobits.get()) * 1000)),
    };
    changes.medium(MediumChange::Discipline(Discipline::Cake(CakeConfig {
        rate,
        autorate: Some(AutorateConfig {
            least: values.number("min"),
            most: values.number("max"),
            fast_rise: values.time("fast-rise"),
            threshold: values.time("threshold"),
            fast_fall: values.time("fast-fall"),
        }),
        ..CakeConfig::default()
    })));
}

//! Remedies at the access point, on packets that pass.

mod airtime_fairness;
mod ampdu_limit;
mod aql;
mod delay_injection;
mod deliberate_drop;
mod dynamic_arq;
mod ebsn;
mod random_delay;
mod snoop;
mod static_delay;
mod station_queues;
mod txop;
mod wtcp;

use std::num::NonZeroU64;

use airtcp_link::agent::delay_injection::Distance;
use airtcp_units::{Duration, Probability};

use crate::deployment::{Setting, Step};
use crate::{Parameter, Remedy, Values};

/// Limit of the airtime queued in the hardware.
const fn airtime_limit(effect: &'static str) -> Parameter {
    Parameter::time(
        "limit",
        Duration::from_millis(5),
        (Duration::from_micros(100), Duration::from_secs(1)),
        effect,
    )
}

/// Which share of the acknowledgments is held.
const fn one_in(effect: &'static str) -> Parameter {
    Parameter::count("every", "acknowledgments", 20, (1, 1_000_000), effect)
}

/// Holds in time in place of number.
const PERIOD: Parameter = Parameter::time(
    "period",
    Duration::ZERO,
    (Duration::ZERO, Duration::from_secs(3600)),
    "above zero: the first acknowledgment in each period of this length is held, in place \
     of one by their number",
);

/// Whether the distances between held acknowledgments are random.
const fn at_random(default: u64) -> Parameter {
    Parameter::switch(
        "at-random",
        default,
        "1: which are held is drawn, one in `every` on average; 0: each such one is; \
         without effect where there is a period",
    )
}

/// The acknowledgments that `every`, `period` and `at-random` choose.
fn distance(values: &Values<'_>) -> Distance {
    let every = NonZeroU64::new(u64::from(values.count("every"))).unwrap_or(NonZeroU64::MIN);
    let period = values.time("period");
    if period > Duration::ZERO {
        Distance::Time(period)
    } else if values.is_on("at-random") {
        let chance = Probability::new(1.0 / every.get() as f64);
        Distance::Chance(chance.unwrap_or(Probability::ALWAYS))
    } else {
        Distance::Acknowledgments(every)
    }
}

/// The timer of an agent that retransmits.
const LOCAL_TIMER: Parameter = Parameter::time(
    "timer",
    Duration::from_millis(50),
    (Duration::from_millis(1), Duration::from_secs(60)),
    "the least that the local timer waits",
);

/// Airtime queue limits are on; one switch for all radios.
const AQL_ENABLED: Step = Step::radio_file("aql_enable", Setting::Fixed("1"));

/// The airtime that may wait in the hardware by the parameter `limit`: below it always, and up to
/// `high_us`, where that is more, while the hardware has little of all stations.
const fn airtime_limits(high_us: u64) -> Step {
    let limits = Setting::AirtimeLimits {
        parameter: "limit",
        high_us,
    };
    Step::radio_file("aql_txq_limit", limits)
}

const ANNOUNCED: &str = "It has an effect with drivers that take packets from mac80211's queues \
     and announce AQL (`iw phy PHY info`), as mt76: others schedule in their firmware. `aql_enable` \
                         is for all radios of the machine.";

/// In the order of the catalogue.
pub(crate) const ALL: &[Remedy] = &[
    delay_injection::REMEDY,
    static_delay::REMEDY,
    random_delay::REMEDY,
    dynamic_arq::REMEDY,
    snoop::REMEDY,
    wtcp::REMEDY,
    ebsn::REMEDY,
    deliberate_drop::REMEDY,
    station_queues::REMEDY,
    airtime_fairness::REMEDY,
    aql::REMEDY,
    ampdu_limit::REMEDY,
    txop::REMEDY,
];

//! Remedies at the access point, on packets that pass.

mod airtime_fairness;
mod ampdu_limit;
mod aql;
mod delay_injection;
mod dynamic_arq;
mod ebsn;
mod random_delay;
mod snoop;
mod static_delay;
mod station_queues;
mod txop;
mod wtcp;

use crate::Remedy;
use crate::deployment::{Setting, Step};

/// Airtime queue limits are on; one switch for all radios.
const AQL_ENABLED: Step = Step::radio_file("aql_enable", Setting::Fixed("1"));

/// Limits of the airtime that waits in the hardware.
const fn airtime_limits(limits: Setting) -> Step {
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
    station_queues::REMEDY,
    airtime_fairness::REMEDY,
    aql::REMEDY,
    ampdu_limit::REMEDY,
    txop::REMEDY,
];

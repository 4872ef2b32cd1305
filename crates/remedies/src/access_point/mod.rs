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

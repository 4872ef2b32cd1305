//! `[cell]`: the downlink of a base station of 1xEV-DO.

use std::num::NonZeroU32;

use airtcp_link::fading::Radio;
use airtcp_link::mac::cellular::{CellConfig, CellError, RateLaw, Scheduler};
use airtcp_link::{Delay, PipeConfig, Service, Stream};

use super::queue::queue;
use super::{damage, radio};
use crate::document::{CellTable, RateLaws, Schedulers};
use crate::error::Problem;
use crate::medium::CellLink;
use airtcp_units::{Duration, Probability};

/// A common carrier of 1xEV-DO.
const CARRIER_MHZ: f64 = 1_900.0;
/// The scheduler evaluates each of them in every slot.
pub(super) const MAX_USERS: u32 = 2_000;

/// The keys of a cell of 1xEV-DO.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvDo {
    pub slot: Duration,
    pub block_error: Probability,
    pub arq_delay: u32,
    pub retry_limit: Option<u32>,
    pub uplink_delay: Duration,
}

/// The cell for `flows` flows, one user each.
pub(super) fn resolve(table: &CellTable, own: EvDo, flows: u32) -> Result<CellLink, Problem> {
    if flows > MAX_USERS {
        return Err(Problem::at(
            key!(flows.count),
            format!("expected at most {MAX_USERS}: in a cell each flow is of a user of its own"),
        ));
    }
    let saturated = table.saturated_users();
    let radio = table.radio.clone().unwrap_or_default();
    let air = radio::resolve(&radio, key!(cell.radio), CARRIER_MHZ)?;
    let config = CellConfig {
        scheduler: scheduler(table)?,
        slot: own.slot,
        rate: rate(table)?,
        radios: Vec::new(),
        saturated,
        block_error: own.block_error,
        arq_delay: NonZeroU32::new(own.arq_delay).unwrap_or(NonZeroU32::MIN),
        retry_limit: damage::attempts(own.retry_limit),
        queue: queue(table.queue()),
        report_retries: false,
    };
    let any = Radio::new(&air.config, 1.0, Stream::new(0, ""))
        .map_err(|error| Problem::at(key!(cell.radio), error.to_string()))?;
    let filled = CellConfig {
        radios: vec![any],
        ..config.clone()
    };
    filled.check().map_err(|error| {
        let key = match error {
            CellError::Slot => key!(cell.slot),
            CellError::Users => key!(flows.count),
            CellError::TimeConstant(_) => key!(cell.time_constant),
            CellError::Bandwidth(_) => key!(cell.bandwidth_mhz),
        };
        Problem::at(key, error.to_string())
    })?;
    let delay = Delay::Constant(own.uplink_delay);
    Ok(CellLink {
        config,
        air,
        users: (flows, saturated),
        back: PipeConfig::line(Service::Unlimited, delay),
    })
}

pub(super) fn scheduler(table: &CellTable) -> Result<Scheduler, Problem> {
    Ok(match Schedulers::of(table, key!(cell))? {
        Schedulers::ProportionalFair { time_constant } => {
            Scheduler::ProportionalFair { time_constant }
        }
        Schedulers::MaxRate {} => Scheduler::MaxRate,
        Schedulers::RoundRobin {} => Scheduler::RoundRobin,
    })
}

fn rate(table: &CellTable) -> Result<RateLaw, Problem> {
    Ok(match RateLaws::of(table, key!(cell))? {
        RateLaws::EvDo {} => RateLaw::Evdo,
        RateLaws::Shannon {
            bandwidth_mhz,
            gap_db,
        } => RateLaw::Shannon {
            bandwidth_hz: 1e6 * bandwidth_mhz,
            gap_db,
        },
    })
}

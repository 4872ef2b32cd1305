//! `[cell]`: the downlink of a base station of 1xEV-DO.

use std::num::NonZeroU32;

use airtcp_link::fading::Radio;
use airtcp_link::mac::cellular::{CellConfig, CellError, RateLaw, Scheduler};
use airtcp_link::{Delay, PipeConfig, Service, Stream};

use super::queue::queue;
use super::{damage, radio};
use crate::document::CellTable;
use crate::error::Problem;
use crate::medium::CellLink;
use crate::names::{CellRates, SchedulerName};
use airtcp_units::written::Written;

const DEFAULT_CARRIER_MHZ: f64 = 1_900.0;
/// Of a carrier of 1xEV-DO.
const DEFAULT_BANDWIDTH_MHZ: f64 = 1.25;
/// The scheduler evaluates each of them in every slot.
pub(super) const MAX_USERS: u32 = 2_000;

/// The cell for `flows` flows, one user each.
pub(super) fn resolve(table: &mut CellTable, flows: u32) -> Result<CellLink, Problem> {
    let why = "belongs to cell.standard = \"lte\" or \"nr\"; remove it, or choose one of them";
    refuse_keys!(
        table, key!(cell), why;
        users, subcarrier_spacing, duplex, tdd_pattern, mcs_table, layers, control_symbols,
        subbands, cqi, outer_loop, harq, rlc, pdcp, uplink, drx, handover, outage, aqm, sessions
    );
    if flows > MAX_USERS {
        return Err(Problem::at(
            key!(flows.count),
            format!("expected at most {MAX_USERS}: in a cell each flow is of a user of its own"),
        ));
    }
    let saturated = table.saturated_users();
    let air = radio::resolve(
        table.radio.get_or_insert_default(),
        key!(cell.radio),
        DEFAULT_CARRIER_MHZ,
    )?;
    let config = CellConfig {
        scheduler: scheduler(table)?,
        slot: table.slot(),
        rate: rate(table)?,
        radios: Vec::new(),
        saturated,
        block_error: table.block_error(),
        arq_delay: NonZeroU32::new(table.arq_delay()).unwrap_or(NonZeroU32::MIN),
        retry_limit: damage::attempts(table.retry_limit()),
        queue: queue(table.queue.get_or_insert_default()),
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
    let delay = Delay::Constant(table.uplink_delay());
    Ok(CellLink {
        config,
        air,
        users: (flows, saturated),
        back: PipeConfig::line(Service::Unlimited, delay),
    })
}

pub(super) fn scheduler(table: &mut CellTable) -> Result<Scheduler, Problem> {
    match table.scheduler() {
        SchedulerName::ProportionalFair => Ok(Scheduler::ProportionalFair {
            time_constant: table.time_constant(),
        }),
        other => {
            let why =
                "belongs to cell.scheduler = \"proportional-fair\"; remove it, or choose that";
            refuse_keys!(table, key!(cell), why; time_constant);
            Ok(match other {
                SchedulerName::MaxRate => Scheduler::MaxRate,
                _ => Scheduler::RoundRobin,
            })
        }
    }
}

fn rate(table: &mut CellTable) -> Result<RateLaw, Problem> {
    match table.rates() {
        CellRates::Evdo => {
            let why = "belongs to cell.rates = \"shannon\"; remove it, or choose that";
            refuse_keys!(table, key!(cell), why; bandwidth_mhz, gap_db);
            Ok(RateLaw::Evdo)
        }
        CellRates::Shannon => Ok(RateLaw::Shannon {
            bandwidth_hz: 1e6 * Written::fill(&mut table.bandwidth_mhz, &DEFAULT_BANDWIDTH_MHZ),
            gap_db: table.gap_db(),
        }),
    }
}

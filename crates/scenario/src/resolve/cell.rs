//! `[cell]`: the downlink of a cellular base station.

use std::num::NonZeroU32;

use airtcp_link::fading::Radio;
use airtcp_link::mac::cellular::{CellConfig, CellError, RateLaw, Scheduler};
use airtcp_link::{Delay, Discipline, ErrorModel, PipeConfig, QueueLimit, Service, Stream};
use airtcp_units::{Duration, Probability};

use super::link::queue;
use super::{radio, refuse, wlan};
use crate::document::CellTable;
use crate::error::Problem;
use crate::medium::CellLink;
use crate::names::{CellRates, SchedulerName};
use airtcp_units::bounded::{Real, Whole, Within};

/// CDMA2000 1xEV-DO: 600 slots a second.
const DEFAULT_SLOT: Duration = Duration::from_nanos(1_666_667);
/// Jalali, Padovani & Pankaj, VTC 2000.
const DEFAULT_TIME_CONSTANT: f64 = 1000.0;
const DEFAULT_CARRIER_MHZ: f64 = 1_900.0;
const DEFAULT_BANDWIDTH_MHZ: f64 = 1.25;
/// 1xEV-DO chooses rates for 1 % of errors.
const DEFAULT_BLOCK_ERROR: f64 = 0.01;
const DEFAULT_ARQ_DELAY: u64 = 12;
const DEFAULT_ATTEMPTS: u64 = 4;
/// Each is looked at in every slot.
const MOST_USERS: u32 = 2_000;
const DEFAULT_UPLINK: Duration = Duration::from_millis(40);

/// The cell for `flows` flows, each of a user of its own.
pub(super) fn resolve(table: &mut CellTable, flows: u32) -> Result<CellLink, Problem> {
    if flows > MOST_USERS {
        return Err(Problem::at(
            "flows.count",
            format!("expected at most {MOST_USERS}: in a cell each flow is of a user of its own"),
        ));
    }
    let saturated = table
        .saturated_users
        .get_or_insert(Whole::clamped(0))
        .get_u32();
    let air = radio::resolve(
        table.radio.get_or_insert_default(),
        "cell.radio",
        DEFAULT_CARRIER_MHZ,
    )?;
    let config = CellConfig {
        scheduler: scheduler(table)?,
        slot: table
            .slot
            .get_or_insert(Within::clamped(DEFAULT_SLOT))
            .get(),
        rate: rate(table)?,
        radios: Vec::new(),
        saturated,
        block_error: *table
            .block_error
            .get_or_insert(Probability::new(DEFAULT_BLOCK_ERROR).unwrap_or(Probability::NEVER)),
        arq_delay: NonZeroU32::new(
            table
                .arq_delay
                .get_or_insert(Whole::clamped(DEFAULT_ARQ_DELAY))
                .get_u32(),
        )
        .unwrap_or(NonZeroU32::MIN),
        retry_limit: wlan::attempts(&mut table.retry_limit, DEFAULT_ATTEMPTS),
        queue: queue(table.queue.get_or_insert_default()),
        report_retries: false,
    };
    let any = Radio::new(&air.config, 1.0, Stream::new(0, ""))
        .map_err(|error| Problem::at("cell.radio", error.to_string()))?;
    let filled = CellConfig {
        radios: vec![any],
        ..config.clone()
    };
    filled.check().map_err(|error| {
        let key = match error {
            CellError::Slot => "cell.slot",
            CellError::Users => "flows.count",
            CellError::TimeConstant(_) => "cell.time_constant",
            CellError::Bandwidth(_) => "cell.bandwidth_mhz",
        };
        Problem::at(key, error.to_string())
    })?;
    let delay = table
        .uplink_delay
        .get_or_insert(Within::clamped(DEFAULT_UPLINK))
        .get();
    Ok(CellLink {
        config,
        air,
        users: (flows, saturated),
        back: PipeConfig {
            service: Service::Unlimited,
            queue: QueueLimit::Unlimited,
            discipline: Discipline::DropTail,
            error: ErrorModel::None,
            delay: Delay::Constant(delay),
        },
    })
}

fn scheduler(table: &mut CellTable) -> Result<Scheduler, Problem> {
    match *table.scheduler.get_or_insert_default() {
        SchedulerName::ProportionalFair => Ok(Scheduler::ProportionalFair {
            time_constant: table
                .time_constant
                .get_or_insert(Real::clamped(DEFAULT_TIME_CONSTANT))
                .get(),
        }),
        other => {
            refuse(
                &table.time_constant,
                "cell.time_constant",
                "belongs to cell.scheduler = \"proportional-fair\"; remove it, or choose that",
            )?;
            Ok(match other {
                SchedulerName::MaxRate => Scheduler::MaxRate,
                _ => Scheduler::RoundRobin,
            })
        }
    }
}

fn rate(table: &mut CellTable) -> Result<RateLaw, Problem> {
    match *table.rates.get_or_insert_default() {
        CellRates::Evdo => {
            let why = "belongs to cell.rates = \"shannon\"; remove it, or choose that";
            refuse(&table.bandwidth_mhz, "cell.bandwidth_mhz", why)?;
            refuse(&table.gap_db, "cell.gap_db", why)?;
            Ok(RateLaw::Evdo)
        }
        CellRates::Shannon => Ok(RateLaw::Shannon {
            bandwidth_hz: 1e6
                * table
                    .bandwidth_mhz
                    .get_or_insert(Real::clamped(DEFAULT_BANDWIDTH_MHZ))
                    .get(),
            gap_db: table.gap_db.get_or_insert(Real::clamped(3.0)).get(),
        }),
    }
}

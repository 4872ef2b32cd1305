//! Errors of a shared channel: damaged frames, outages, and how often a frame is sent.

use std::num::NonZeroU32;

use airtcp_link::frame::RetryLimit;
use airtcp_link::mac::damage::{Affects, Counted, DamageConfig, Outage};
use airtcp_link::mac::own_retry_limits::StationRetryLimits;
use airtcp_units::Probability;

use crate::document::{Attempts, LossModel, LossTable, OutageTable, error_model};
use crate::error::Problem;
use crate::names::LossDirection;
use airtcp_units::bounded::Limit;

/// Maximum number of transmissions of a frame.
pub(super) fn attempts(limit: Option<u32>) -> RetryLimit {
    limit
        .and_then(NonZeroU32::new)
        .map_or(RetryLimit::Unlimited, RetryLimit::Attempts)
}

/// The mobiles' own limits, `wlan.station_retry_limits`.
pub(super) fn own_attempts(
    given: Option<&[Limit<Attempts>]>,
    stations: u32,
) -> Result<StationRetryLimits, Problem> {
    const KEY: &str = key!(wlan.station_retry_limits);
    let Some(given) = given else {
        return Ok(StationRetryLimits::default());
    };
    if given.is_empty() {
        let example = "expected at least one limit, such as [7, \"unlimited\"]";
        return Err(Problem::at(KEY, example));
    }
    if given.len() > stations as usize {
        let limits = given.len();
        let told =
            format!("{limits} limits, and {stations} stations; expected one for each at most");
        return Err(Problem::at(KEY, told));
    }
    let limits: Vec<_> = given.iter().map(|own| attempts(own.get_u32())).collect();
    Ok(StationRetryLimits::both_ways(&limits))
}

/// Errors that damage frames, from `wlan.loss` and `wlan.outage`.
pub(super) fn damage(
    loss: Option<LossTable>,
    outage: Option<OutageTable>,
) -> Result<DamageConfig, Problem> {
    let loss = loss.unwrap_or_default();
    let model = error_model(&loss, key!(wlan.loss))?;
    let affects = affects(&loss);
    let counted: Counted = loss.counted().into();
    Ok(DamageConfig {
        model,
        affects,
        counted,
        outage: outage
            .map(|table| away(table, key!(wlan.outage)))
            .transpose()?,
        radio: None,
    })
}

/// Content of the frames that may be damaged.
pub(super) fn affects(loss: &LossTable) -> Affects {
    match loss.direction() {
        LossDirection::Data => Affects::Data,
        LossDirection::Acks => Affects::Acknowledgments,
        LossDirection::Both => Affects::Both,
    }
}

/// Periodic outages of a medium.
pub(super) fn away(table: OutageTable, key: &str) -> Result<Outage, Problem> {
    let (every, length) = (table.every.get(), table.length.get());
    if length >= every {
        return Err(Problem::at(
            key_of!(key, table.length),
            format!("expected less than {key}.every, which is {every}"),
        ));
    }
    Ok(Outage { every, length })
}

/// With a radio, noise damages frames; an error model would count losses twice.
pub(super) fn refuse_error_model(loss: Option<&LossTable>) -> Result<(), Problem> {
    let is_nothing = |rate| rate == Probability::NEVER;
    match loss {
        Some(loss) if loss.model != Some(LossModel::Iid) || !loss.rate.is_none_or(is_nothing) => {
            Err(Problem::at(
                key!(wlan.loss),
                "wlan.radio damages frames already; give one of them",
            ))
        }
        _ => Ok(()),
    }
}

/// Refuses a key of `wlan.loss` elsewhere.
pub(super) fn refuse_counted(table: &LossTable, key: &str) -> Result<(), Problem> {
    let why =
        "only stations of a shared channel (wlan.loss) can be counted together; remove the key";
    refuse_keys!(table, key, why; counted);
    Ok(())
}

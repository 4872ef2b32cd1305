//! `[wired]`: the path between the access point and the wired hosts.

use airtcp_link::{Delay, Discipline, ErrorModel, PipeConfig, Service};
use airtcp_units::{BitRate, Duration};

use super::link::queue;
use super::{aqm, loss, refuse, wlan};
use crate::document::{LineDelay, RoundTripTable, WiredTable};
use crate::error::Problem;
use crate::link::{RoundTrip, Wired};
use crate::names::{LossDirection, Shape};
use airtcp_units::bounded::{Limit, Rate, Within};

/// The default path between an access point and servers (Fotiadis §IV).
const DEFAULT_RATE: BitRate = BitRate::from_bps(100_000_000);
const DEFAULT_DELAY: Duration = Duration::from_millis(15);
/// Mahmoodi et al. §IV.
const DEFAULT_FROM: Duration = Duration::from_millis(5);
const DEFAULT_TO: Duration = Duration::from_millis(100);
const DEFAULT_MEAN: Duration = Duration::from_millis(50);
const DEFAULT_DEVIATION: Duration = Duration::from_millis(20);

pub(super) fn resolve(table: &mut WiredTable) -> Result<Wired, Problem> {
    let rate = *table
        .rate
        .get_or_insert(Limit::At(Rate::clamped(DEFAULT_RATE)));
    let round_trip = table.round_trip.as_mut().map(distribution).transpose()?;
    // A further round trip makes the line's own delay nothing, unless that is given too.
    let default = match round_trip {
        Some(_) => Duration::ZERO,
        None => DEFAULT_DELAY,
    };
    let delay = table.delay.get_or_insert(Within::clamped(default)).get();
    let queue = queue(table.queue.get_or_insert_default());
    let discipline = match &mut table.aqm {
        Some(aqm) => aqm::resolve(aqm, "wired.aqm")?,
        None => Discipline::DropTail,
    };
    let (errors, lossy) = match &mut table.loss {
        None => (ErrorModel::None, LossDirection::Data),
        Some(loss) => {
            wlan::refuse_counted(loss, "wired.loss")?;
            let model = loss::resolve(loss, "wired.loss")?;
            (model, *loss.direction.get_or_insert_default())
        }
    };
    let service = rate
        .at()
        .map_or(Service::Unlimited, |rate| Service::Constant(rate.get()));
    Ok(Wired {
        line: PipeConfig {
            service,
            queue,
            discipline,
            error: ErrorModel::None,
            delay: Delay::Constant(delay),
        },
        errors,
        lossy,
        round_trip,
    })
}

fn distribution(table: &mut RoundTripTable) -> Result<RoundTrip, Problem> {
    let shape = *table.shape.get_or_insert_default();
    refuse_keys_of_others(table, shape)?;
    let or =
        |key: &mut Option<LineDelay>, default| key.get_or_insert(Within::clamped(default)).get();
    match shape {
        Shape::Uniform => {
            let (from, to) = (
                or(&mut table.from, DEFAULT_FROM),
                or(&mut table.to, DEFAULT_TO),
            );
            if from > to {
                return Err(Problem::at(
                    "wired.round_trip.from",
                    format!("expected at most wired.round_trip.to, which is {to}"),
                ));
            }
            Ok(RoundTrip::Uniform { from, to })
        }
        Shape::Normal => Ok(RoundTrip::Normal {
            mean: or(&mut table.mean, DEFAULT_MEAN),
            deviation: or(&mut table.deviation, DEFAULT_DEVIATION),
        }),
        Shape::Exponential => Ok(RoundTrip::Exponential {
            mean: or(&mut table.mean, DEFAULT_MEAN),
        }),
    }
}

fn refuse_keys_of_others(table: &RoundTripTable, shape: Shape) -> Result<(), Problem> {
    let belongs = |to: &str| format!("belongs to wired.round_trip.shape = {to}; remove it");
    if shape != Shape::Uniform {
        let why = belongs("\"uniform\"");
        refuse(&table.from, "wired.round_trip.from", &why)?;
        refuse(&table.to, "wired.round_trip.to", &why)?;
    }
    if shape == Shape::Uniform {
        let why = belongs("\"normal\" or \"exponential\"");
        refuse(&table.mean, "wired.round_trip.mean", &why)?;
    }
    if shape != Shape::Normal {
        refuse(
            &table.deviation,
            "wired.round_trip.deviation",
            &belongs("\"normal\""),
        )?;
    }
    Ok(())
}

//! `[wired]`: the path between the access point and the wired hosts.

use airtcp_link::{Delay, ErrorModel, PipeConfig, Service};

use super::queue::queue;
use super::{aqm, damage};
use crate::document::{RoundTripTable, RoundTrips, WiredTable, error_model};
use crate::error::Problem;
use crate::link::{RoundTrip, Wired};
use crate::names::LossDirection;

pub(super) fn resolve(table: &WiredTable) -> Result<Wired, Problem> {
    let round_trip = table.round_trip.as_ref().map(distribution).transpose()?;
    let delay = table.delay();
    let queue = queue(table.queue());
    let discipline = aqm::or_drop_tail(table.aqm.as_ref(), key!(wired.aqm))?;
    let (errors, lossy) = match &table.loss {
        None => (ErrorModel::None, LossDirection::Data),
        Some(loss) => {
            damage::refuse_counted(loss, key!(wired.loss))?;
            let model = error_model(loss, key!(wired.loss))?;
            (model, loss.direction())
        }
    };
    let service = table.rate().map_or(Service::Unlimited, Service::Constant);
    Ok(Wired {
        line: PipeConfig {
            queue,
            discipline,
            ..PipeConfig::line(service, Delay::Constant(delay))
        },
        errors,
        lossy,
        round_trip,
    })
}

fn distribution(table: &RoundTripTable) -> Result<RoundTrip, Problem> {
    Ok(match RoundTrips::of(table, key!(wired.round_trip))? {
        RoundTrips::Uniform { from, to } if from > to => {
            return Err(Problem::at(
                key!(wired.round_trip.from),
                format!("expected at most wired.round_trip.to, which is {to}"),
            ));
        }
        RoundTrips::Uniform { from, to } => RoundTrip::Uniform { from, to },
        RoundTrips::Normal { mean, deviation } => RoundTrip::Normal { mean, deviation },
        RoundTrips::Exponential { mean } => RoundTrip::Exponential { mean },
    })
}

//! `[wired]`: the path between the access point and the wired hosts.

use airtcp_link::{Delay, Discipline, ErrorModel, PipeConfig, Service};
use airtcp_units::{BitRate, Duration};

use super::queue::queue;
use super::{aqm, damage};
use crate::document::{Packets, RoundTripTable, WiredTable, error_model};
use crate::error::Problem;
use crate::link::{RoundTrip, Wired};
use crate::names::{LossDirection, Shape};
use airtcp_units::written::Written;

const DEFAULT_DELAY: Duration = Duration::from_millis(15);
/// A line that does not throttle 802.11n, ac and ax, LTE and NR: gigabit Ethernet, with Linux's
/// default queue length (`DEFAULT_TX_QUEUE_LEN`), which has room for the packets that an aggregate,
/// or the acknowledgments of an uplink grant, send at once.
const AGGREGATES_RATE: BitRate = BitRate::from_bps(1_000_000_000);
const AGGREGATES_QUEUE: u64 = 1_000;

/// Fills in the defaults next to a channel that carries packets, or acknowledgments, in bunches.
pub(super) fn fill_behind_aggregates(table: &mut WiredTable) {
    Written::fill(&mut table.rate, &Some(AGGREGATES_RATE));
    let queue = table.queue.get_or_insert_default();
    if queue.bytes.is_none() {
        queue
            .packets
            .get_or_insert(Packets::clamped(AGGREGATES_QUEUE));
    }
}

pub(super) fn resolve(table: &mut WiredTable) -> Result<Wired, Problem> {
    let round_trip = table.round_trip.as_mut().map(distribution).transpose()?;
    // With a further round trip the line's delay defaults to zero.
    let default = match round_trip {
        Some(_) => Duration::ZERO,
        None => DEFAULT_DELAY,
    };
    let delay = Written::fill(&mut table.delay, &default);
    let queue = queue(table.queue.get_or_insert_default());
    let discipline = match &mut table.aqm {
        Some(aqm) => aqm::resolve(aqm, key!(wired.aqm))?,
        None => Discipline::DropTail,
    };
    let (errors, lossy) = match &mut table.loss {
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

fn distribution(table: &mut RoundTripTable) -> Result<RoundTrip, Problem> {
    let shape = table.shape();
    refuse_keys_of_others(table, shape)?;
    match shape {
        Shape::Uniform => {
            let (from, to) = (table.from(), table.to());
            if from > to {
                return Err(Problem::at(
                    key!(wired.round_trip.from),
                    format!("expected at most wired.round_trip.to, which is {to}"),
                ));
            }
            Ok(RoundTrip::Uniform { from, to })
        }
        Shape::Normal => Ok(RoundTrip::Normal {
            mean: table.mean(),
            deviation: table.deviation(),
        }),
        Shape::Exponential => Ok(RoundTrip::Exponential { mean: table.mean() }),
    }
}

fn refuse_keys_of_others(table: &RoundTripTable, shape: Shape) -> Result<(), Problem> {
    let belongs = |to: &str| format!("belongs to wired.round_trip.shape = {to}; remove it");
    if shape != Shape::Uniform {
        refuse_keys!(table, key!(wired.round_trip), belongs("\"uniform\""); from, to);
    }
    if shape == Shape::Uniform {
        let why = belongs("\"normal\" or \"exponential\"");
        refuse_keys!(table, key!(wired.round_trip), why; mean);
    }
    if shape != Shape::Normal {
        refuse_keys!(table, key!(wired.round_trip), belongs("\"normal\""); deviation);
    }
    Ok(())
}

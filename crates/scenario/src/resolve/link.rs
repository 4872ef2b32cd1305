//! `[link]`: one of three kinds of link (a rate, a recorded link, recorded round-trip times), and
//! both of its directions.

use std::num::NonZeroU32;
use std::sync::Arc;

use airtcp_link::{
    Conditions, Delay, ErrorModel, LightTrace, MahimahiTrace, PipeConfig, PolicerConfig,
    RecordingStart, Repeat, RttModel, RttShape, Service, Stops,
};
use airtcp_units::Duration;
use airtcp_units::bounded::{Limit, Rate, Within};

use super::queue::queue;
use super::variation::{self, Variation};
use super::{aqm, losses};
use crate::document::{
    LineDelay, LinkTable, PolicerTable, RecordedTable, ReverseTable, RttModelTable, RttShapes,
};
use crate::error::Problem;
use crate::fast_log;
use crate::inputs::{Inputs, Recording};
use crate::names::{LogStart, TraceDirection};

/// Both directions: the one that data takes, and the one that acknowledgments take.
pub(super) fn resolve(
    table: &LinkTable,
    inputs: &Inputs,
) -> Result<(PipeConfig, PipeConfig), Problem> {
    let (data_errors, ack_errors) = losses::errors(table, inputs)?;
    if table.rtt_log.is_some() || table.rtt_model.is_some() {
        refuse_with_times(table)?;
        let delay = match &table.rtt_model {
            Some(model) => modelled_times(model)?,
            None => recorded_times(table, inputs)?,
        };
        let service = match &delay {
            Delay::Recorded { series, .. } if fast_log::is_fast(series) => {
                Service::Constant(fast_log::MAX)
            }
            _ => Service::Unlimited,
        };
        return Ok(with_times(service, delay, data_errors, ack_errors));
    }
    let (data_service, ack_service) = if table.trace.is_some() {
        recorded_link(table, inputs)?
    } else {
        rates(table)
    };
    let (data_service, ack_service, held) = stopped(table, inputs, (data_service, ack_service))?;
    let (data_delay, ack_delay) = delays(table, inputs)?;
    let reverse = &table.reverse.clone().unwrap_or_default();
    let data_queue = queue(table.queue.unwrap_or_default());
    let ack_queue = queue(reverse.queue.unwrap_or_default());
    let is_unlimited = |service: &Service| matches!(service, Service::Unlimited);
    if data_delay + ack_delay == Duration::ZERO
        && is_unlimited(&data_service)
        && is_unlimited(&ack_service)
        && inputs.recorded[0].is_none()
    {
        return Err(Problem::at(
            key!(link.delay),
            "expected more than 0 s: on a link with neither rate nor delay time stands still",
        ));
    }
    let data_discipline = aqm::or_drop_tail(table.aqm.as_ref(), key!(link.aqm))?;
    let ack_discipline = aqm::or_drop_tail(reverse.aqm.as_ref(), key!(link.reverse.aqm))?;
    let [data_variation, ack_variation] = variations(table, reverse, inputs, held);
    let data = PipeConfig {
        policer: table.policer.as_ref().map(policer),
        queue: data_queue,
        discipline: data_discipline,
        error: data_errors,
        ..PipeConfig::line(data_service, data_variation.delay(data_delay))
    };
    let acks = PipeConfig {
        queue: ack_queue,
        discipline: ack_discipline,
        error: ack_errors,
        ..PipeConfig::line(ack_service, ack_variation.delay(ack_delay))
    };
    match repeat(table, inputs)? {
        Some(repeat) => Ok((data.with_repeat(repeat), acks.with_repeat(repeat))),
        None => Ok((data, acks)),
    }
}

/// Whether the recordings of `[link]` repeat, and from where.
fn repeat(table: &LinkTable, inputs: &Inputs) -> Result<Option<Repeat>, Problem> {
    let Some(repeat) = &table.repeat else {
        return Ok(None);
    };
    if inputs.stops.is_none() && inputs.recorded.iter().all(Option::is_none) {
        let why = "repeats recordings of the link (link.recorded, link.stops.path), and none is \
                   given; remove it";
        return Err(Problem::at(key!(link.repeat), why));
    }
    Ok(Repeat::new(repeat.every.get(), beginning(repeat.start())))
}

const fn beginning(start: LogStart) -> RecordingStart {
    match start {
        LogStart::Beginning => RecordingStart::Beginning,
        LogStart::Random => RecordingStart::Random,
    }
}

/// Both services, which wait while the link stops, and the stops in which deliveries are held.
fn stopped(
    table: &LinkTable,
    inputs: &Inputs,
    (data, acks): (Service, Service),
) -> Result<(Service, Service, [Option<Stops>; 2]), Problem> {
    let Some(stops) = &table.stops else {
        return Ok((data, acks, [None, None]));
    };
    let stops = variation::stops(stops, inputs)?;
    let (data, acks) = stops.suspend(data, acks)?;
    Ok((data, acks, stops.held()))
}

/// The constant part of both delays; a recorded delay replaces it.
fn delays(table: &LinkTable, inputs: &Inputs) -> Result<(Duration, Duration), Problem> {
    if inputs.recorded[0].is_some() {
        variation::refuse_delay(&table.delay, key!(link.delay))?;
        if let Some(reverse) = &table.reverse {
            variation::refuse_delay(&reverse.delay, key!(link.reverse.delay))?;
        }
        return Ok((Duration::ZERO, Duration::ZERO));
    }
    let span = |delay: Option<LineDelay>| delay.map_or(Duration::ZERO, Within::get);
    let data = span(table.delay);
    let reverse = table.reverse.as_ref().and_then(|reverse| reverse.delay);
    if inputs.recorded[1].is_some() {
        variation::refuse_delay(&reverse, key!(link.reverse.delay))?;
        return Ok((data, Duration::ZERO));
    }
    Ok((data, span(reverse)))
}

/// The variations of both delays.
fn variations(
    table: &LinkTable,
    reverse: &ReverseTable,
    inputs: &Inputs,
    held: [Option<Stops>; 2],
) -> [Variation; 2] {
    let [data_held, acks_held] = held;
    let of = |file: &Option<Recording<Conditions>>, recorded: &Option<RecordedTable>| {
        let order = variation::delivery(recorded.as_ref()?.order());
        Some((Arc::clone(&file.as_ref()?.content), order))
    };
    let recorded = of(&inputs.recorded[0], &table.recorded);
    let acks_recorded = of(&inputs.recorded[1], &reverse.recorded).or(recorded.clone());
    [
        Variation {
            recorded,
            jitter: table.jitter,
            late: table.late,
            held: data_held,
        },
        Variation {
            recorded: acks_recorded,
            jitter: reverse.jitter,
            late: reverse.late,
            held: acks_held,
        },
    ]
}

/// A link with a rate.
fn rates(table: &LinkTable) -> (Service, Service) {
    let service = |rate: Option<Limit<Rate>>| {
        let rate = rate.and_then(Limit::at).map(Within::get);
        rate.map_or(Service::Unlimited, Service::Constant)
    };
    let acks = table.reverse.as_ref().and_then(|reverse| reverse.rate);
    (service(table.rate), service(acks))
}

/// A recorded link.
fn recorded_link(table: &LinkTable, inputs: &Inputs) -> Result<(Service, Service), Problem> {
    let why = "a recorded link (link.trace) has its own rate; give one of them";
    refuse_keys!(table, key!(link), why; rate);
    if let Some(reverse) = &table.reverse {
        refuse_keys!(reverse, key!(link.reverse), why; rate);
    }
    let trace = table.trace.clone().unwrap_or_default();
    let (data, opportunity) = (trace.data(), trace.opportunity());
    let [light_down, light_up] = &inputs.light;
    let down = replayed(
        &inputs.down,
        light_down,
        opportunity,
        key!(link.trace.light.down),
    )?;
    let up = replayed(&inputs.up, light_up, opportunity, key!(link.trace.light.up))?;
    let (first, second, key) = match data {
        TraceDirection::Down => (down, up, key!(link.trace.down)),
        TraceDirection::Up => (up, down, key!(link.trace.up)),
    };
    let Some(first) = first else {
        return Err(Problem::at(
            key,
            "is missing; the direction that data takes needs the file of a recorded link",
        ));
    };
    Ok((first, second.unwrap_or(Service::Unlimited)))
}

/// One direction of a recorded link, with the number of bytes per opportunity; `None` if
/// nothing is recorded of it.
fn replayed(
    heavy: &Option<Recording<MahimahiTrace>>,
    light: &Option<Recording<LightTrace>>,
    opportunity: u32,
    key: &str,
) -> Result<Option<Service>, Problem> {
    let content = |heavy: &Recording<MahimahiTrace>| match NonZeroU32::new(opportunity) {
        Some(bytes) if bytes.get() != heavy.content.opportunity_bytes() => {
            Arc::new(heavy.content.with_opportunity(bytes))
        }
        _ => Arc::clone(&heavy.content),
    };
    match (heavy, light) {
        (Some(heavy), Some(light)) => Ok(Some(Service::LoadDependent {
            heavy: content(heavy),
            light: Arc::clone(&light.content),
        })),
        (Some(heavy), None) => Ok(Some(Service::Mahimahi(content(heavy)))),
        (None, Some(_)) => Err(Problem::at(
            key,
            "has only opportunities of the first packets after a pause; give those of a \
             saturating flow in the same direction, too (link.trace.down, link.trace.up)",
        )),
        (None, None) => Ok(None),
    }
}

/// Round-trip times replace every property of a link except its losses.
fn refuse_with_times(table: &LinkTable) -> Result<(), Problem> {
    let why = "round-trip times (link.rtt_log, link.rtt_model) hold rate, delay and queue already; \
               give one of them";
    let other =
        "round-trip times (link.rtt_log, link.rtt_model) are another link; give one of them";
    refuse_keys!(table, key!(link), other; trace);
    if table.rtt_log.is_some() {
        let why = "link.rtt_log is given too; give one of them";
        refuse_keys!(table, key!(link), why; rtt_model);
    }
    refuse_keys!(
        table, key!(link), why;
        rate, delay, queue, stops, jitter, late, recorded, repeat, aqm, policer
    );
    if let Some(reverse) = &table.reverse {
        refuse_keys!(
            reverse, key!(link.reverse), why;
            rate, delay, queue, jitter, late, recorded, aqm
        );
    }
    Ok(())
}

/// The trace-driven model of Miyim §V: data takes the round-trip times, acknowledgments nothing.
fn with_times(
    service: Service,
    delay: Delay,
    data_errors: ErrorModel,
    ack_errors: ErrorModel,
) -> (PipeConfig, PipeConfig) {
    let pipe = |service, error, delay| PipeConfig {
        error,
        ..PipeConfig::line(service, delay)
    };
    let none = Delay::Constant(Duration::ZERO);
    (
        pipe(service, data_errors, delay),
        pipe(Service::Unlimited, ack_errors, none),
    )
}

/// Recorded round-trip times.
fn recorded_times(table: &LinkTable, inputs: &Inputs) -> Result<Delay, Problem> {
    let missing = || Problem::at(key!(link.rtt_log.path), "is missing");
    let log = table.rtt_log.as_ref().ok_or_else(missing)?;
    let series = &inputs.rtt_log.as_ref().ok_or_else(missing)?.content;
    if series.as_slice().iter().all(|rtt| *rtt == Duration::ZERO) {
        return Err(Problem::at(
            key!(link.rtt_log.path),
            "expected round-trip times above 0; in this file all are 0 and time stands still",
        ));
    }
    let order = variation::delivery(log.order());
    let start = beginning(log.start());
    Ok(Delay::Recorded {
        series: Arc::clone(series),
        order,
        start,
    })
}

/// Round-trip times drawn from a distribution.
fn modelled_times(table: &RttModelTable) -> Result<Delay, Problem> {
    let model = RttModel {
        mean: table.mean(),
        autocorrelation: table.autocorrelation(),
        shape: match RttShapes::of(table, key!(link.rtt_model))? {
            RttShapes::LogNormal { variation } => RttShape::LogNormal { variation },
            RttShapes::Spikes {
                spike_share: share,
                spike_height: height,
            } => RttShape::Spikes { share, height },
        },
    };
    let order = variation::delivery(table.order());
    Ok(Delay::Modelled { model, order })
}

/// The policer in front of the queue.
const fn policer(table: &PolicerTable) -> PolicerConfig {
    PolicerConfig {
        rate: table.rate.get(),
        burst: table.burst.get().as_bytes(),
    }
}

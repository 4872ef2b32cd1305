//! `[link]`: one of three kinds of link (a rate, a recorded link, recorded round-trip times), and
//! both of its directions.

use std::sync::Arc;

use airtcp_link::{
    Delay, DeliveryOrder, ErrorModel, MahimahiTrace, PipeConfig, QueueLimit, RecordingStart,
    RttModel, RttShape, Service,
};
use airtcp_units::{BitRate, ByteCount, Duration};

use super::{loss, refuse, wlan};
use crate::document::{
    LinkTable, LossTable, Packets, QueueTable, RttLogTable, RttModelTable, SuspensionTable,
};
use crate::error::Problem;
use crate::inputs::{Inputs, Recording};
use crate::link::Link;
use crate::names::{DelayOrder, LogStart, LossDirection, RttShapeName, TraceDirection};
use airtcp_units::bounded::{Limit, Rate, Real, Within};

/// The default link is the lossy pipe of `scenarios/lossy-pipe.toml`.
const DEFAULT_RATE: BitRate = BitRate::from_bps(10_000_000);
const DEFAULT_DELAY: Duration = Duration::from_millis(25);
const DEFAULT_MEAN_RTT: Duration = Duration::from_millis(500);
const DEFAULT_QUEUE_PACKETS: u64 = 100;

/// Both directions: the one that data takes, and the one that acknowledgments take.
pub(super) fn resolve(
    table: &mut LinkTable,
    inputs: &Inputs,
) -> Result<(PipeConfig, PipeConfig), Problem> {
    let (data_errors, ack_errors) = errors(table)?;
    if table.rtt_log.is_some() || table.rtt_model.is_some() {
        refuse_beside_times(table)?;
        let delay = match &mut table.rtt_model {
            Some(model) => modelled_times(model)?,
            None => recorded_times(table, inputs)?,
        };
        return Ok(with_times(delay, data_errors, ack_errors));
    }
    let (data_service, ack_service) = if table.trace.is_some() {
        recorded_link(table, inputs)?
    } else {
        rates(table)?
    };
    let data_delay = table
        .delay
        .get_or_insert(Within::clamped(DEFAULT_DELAY))
        .get();
    let data_queue = queue(table.queue.get_or_insert_default(), "link.queue")?;
    let reverse = table.reverse.get_or_insert_default();
    let ack_delay = reverse
        .delay
        .get_or_insert(Within::clamped(data_delay))
        .get();
    let ack_queue = match &mut reverse.queue {
        Some(given) => queue(given, "link.reverse.queue")?,
        none => {
            *none = table.queue;
            data_queue
        }
    };
    if data_delay + ack_delay == Duration::ZERO
        && matches!(
            (&data_service, &ack_service),
            (Service::Unlimited, Service::Unlimited)
        )
    {
        return Err(Problem::at(
            "link.delay",
            "expected more than 0 s: on a link with neither rate nor delay time stands still",
        ));
    }
    let data = PipeConfig {
        service: data_service,
        queue: data_queue,
        error: data_errors,
        delay: Delay::Constant(data_delay),
    };
    let acks = PipeConfig {
        service: ack_service,
        queue: ack_queue,
        error: ack_errors,
        delay: Delay::Constant(ack_delay),
    };
    Ok((data, acks))
}

/// The remedy `queue`: so many packets may wait in the direction of data.
pub(super) fn change_queue(link: &mut Link, packets: u32) -> Result<(), Problem> {
    let limit = QueueLimit::Packets(packets);
    match link {
        Link::Pipe { data, .. } if !matches!(data.delay, Delay::Constant(_)) => {
            return Err(Problem::at(
                "remedies",
                "recorded round-trip times (link.rtt_log) hold the queue they were recorded \
                 with; its length cannot be changed",
            ));
        }
        Link::Pipe { data, .. } => data.queue = limit,
        Link::Wlan(wlan) => {
            wlan.bss.mobile.queue = limit;
            wlan.bss.access_point.queue = limit;
        }
        Link::Arq(arq) => arq.config.queue = limit,
        Link::SelectiveRepeat(link) => {
            link.config.mobile.queue = limit;
            link.config.access_point.queue = limit;
        }
        Link::Cell(cell) => cell.config.queue = limit,
    }
    Ok(())
}

/// What each direction loses.
fn errors(table: &mut LinkTable) -> Result<(ErrorModel, ErrorModel), Problem> {
    let loss = table.loss.get_or_insert_default();
    wlan::refuse_counted(loss, "link.loss")?;
    let model = loss::resolve(loss, "link.loss")?;
    let direction = *loss.direction.get_or_insert_default();
    let of_reverse = match table
        .reverse
        .as_mut()
        .and_then(|reverse| reverse.loss.as_mut())
    {
        Some(reverse) => Some(reverse_errors(reverse, direction)?),
        None => None,
    };
    Ok(match direction {
        LossDirection::Data => (model, of_reverse.unwrap_or(ErrorModel::None)),
        LossDirection::Acks => (ErrorModel::None, model),
        LossDirection::Both => (model, model),
    })
}

fn reverse_errors(table: &mut LossTable, direction: LossDirection) -> Result<ErrorModel, Problem> {
    let key = "link.reverse.loss";
    refuse(
        &table.direction,
        &format!("{key}.direction"),
        "this table is about acknowledgments alone; remove the key",
    )?;
    wlan::refuse_counted(table, key)?;
    if direction != LossDirection::Data {
        return Err(Problem::at(
            key,
            "link.loss.direction says already what acknowledgments lose; give one of them",
        ));
    }
    loss::resolve(table, key)
}

/// A link with a rate, that perhaps stops now and then.
fn rates(table: &mut LinkTable) -> Result<(Service, Service), Problem> {
    let data = *table
        .rate
        .get_or_insert(Limit::At(Rate::clamped(DEFAULT_RATE)));
    let acks = *table
        .reverse
        .get_or_insert_default()
        .rate
        .get_or_insert(data);
    let service = |rate: Limit<Rate>, key: &str| match (rate.at(), table.suspension) {
        (None, None) => Ok(Service::Unlimited),
        (Some(rate), None) => Ok(Service::Constant(rate.get())),
        (Some(rate), Some(suspension)) => suspended(rate.get(), suspension),
        (None, Some(_)) => Err(Problem::at(
            key,
            "expected a rate such as \"10 Mbit/s\": a link that stops (link.suspension) needs one",
        )),
    };
    Ok((
        service(data, "link.rate")?,
        service(acks, "link.reverse.rate")?,
    ))
}

fn suspended(rate: BitRate, suspension: SuspensionTable) -> Result<Service, Problem> {
    let (every, length) = (suspension.every.get(), suspension.length.get());
    if length >= every {
        return Err(Problem::at(
            "link.suspension.length",
            format!("expected less than link.suspension.every, which is {every}"),
        ));
    }
    Ok(Service::Suspended {
        rate,
        every,
        length,
    })
}

/// A recorded link.
fn recorded_link(table: &mut LinkTable, inputs: &Inputs) -> Result<(Service, Service), Problem> {
    let why = "a recorded link (link.trace) has its own rate; give one of them";
    refuse(&table.rate, "link.rate", why)?;
    refuse(&table.suspension, "link.suspension", why)?;
    refuse(
        &table.reverse.and_then(|reverse| reverse.rate),
        "link.reverse.rate",
        why,
    )?;
    let trace = table.trace.get_or_insert_default();
    let data = *trace.data.get_or_insert_default();
    let (first, second, key) = match data {
        TraceDirection::Down => (&inputs.down, &inputs.up, "link.trace.down"),
        TraceDirection::Up => (&inputs.up, &inputs.down, "link.trace.up"),
    };
    let service = |recording: &Option<Recording<MahimahiTrace>>| match recording {
        Some(recording) => Service::Mahimahi(Arc::clone(&recording.content)),
        None => Service::Unlimited,
    };
    if first.is_none() {
        return Err(Problem::at(
            key,
            "is missing; the direction that data takes needs the file of a recorded link",
        ));
    }
    Ok((service(first), service(second)))
}

/// Round-trip times hold all else that a link has but its losses.
fn refuse_beside_times(table: &LinkTable) -> Result<(), Problem> {
    let why = "round-trip times (link.rtt_log, link.rtt_model) hold rate, delay and queue already; \
               give one of them";
    let other =
        "round-trip times (link.rtt_log, link.rtt_model) are another link; give one of them";
    refuse(&table.trace, "link.trace", other)?;
    if table.rtt_log.is_some() {
        refuse(
            &table.rtt_model,
            "link.rtt_model",
            "link.rtt_log is given too; give one of them",
        )?;
    }
    refuse(&table.rate, "link.rate", why)?;
    refuse(&table.delay, "link.delay", why)?;
    refuse(&table.queue, "link.queue", why)?;
    refuse(&table.suspension, "link.suspension", why)?;
    if let Some(reverse) = table.reverse {
        refuse(&reverse.rate, "link.reverse.rate", why)?;
        refuse(&reverse.delay, "link.reverse.delay", why)?;
        refuse(&reverse.queue, "link.reverse.queue", why)?;
    }
    Ok(())
}

/// The trace-driven model of Miyim §V: data takes the round-trip times, acknowledgments nothing.
fn with_times(
    delay: Delay,
    data_errors: ErrorModel,
    ack_errors: ErrorModel,
) -> (PipeConfig, PipeConfig) {
    let pipe = |error, delay| PipeConfig {
        service: Service::Unlimited,
        queue: QueueLimit::Unlimited,
        error,
        delay,
    };
    (
        pipe(data_errors, delay),
        pipe(ack_errors, Delay::Constant(Duration::ZERO)),
    )
}

/// Recorded round-trip times.
fn recorded_times(table: &mut LinkTable, inputs: &Inputs) -> Result<Delay, Problem> {
    let missing = || Problem::at("link.rtt_log.path", "is missing");
    let log: &mut RttLogTable = table.rtt_log.as_mut().ok_or_else(missing)?;
    let series = &inputs.rtt_log.as_ref().ok_or_else(missing)?.content;
    if series.as_slice().iter().all(|rtt| *rtt == Duration::ZERO) {
        return Err(Problem::at(
            "link.rtt_log.path",
            "expected round-trip times above 0; in this file all are 0 and time stands still",
        ));
    }
    let order = delivery(*log.order.get_or_insert_default());
    let start = match *log.start.get_or_insert_default() {
        LogStart::Beginning => RecordingStart::Beginning,
        LogStart::Random => RecordingStart::Random,
    };
    Ok(Delay::Recorded {
        series: Arc::clone(series),
        order,
        start,
    })
}

/// Round-trip times drawn from a distribution.
fn modelled_times(table: &mut RttModelTable) -> Result<Delay, Problem> {
    let mean = table
        .mean
        .get_or_insert(Within::clamped(DEFAULT_MEAN_RTT))
        .get();
    let autocorrelation = table
        .autocorrelation
        .get_or_insert(Real::clamped(0.0))
        .get();
    let shape = match *table.shape.get_or_insert_default() {
        RttShapeName::LogNormal => {
            let why = "is for shape = \"spikes\"; remove it, or change the shape";
            refuse(&table.spike_share, "link.rtt_model.spike_share", why)?;
            refuse(&table.spike_height, "link.rtt_model.spike_height", why)?;
            let variation = table.variation.get_or_insert(Real::clamped(0.5)).get();
            RttShape::LogNormal { variation }
        }
        RttShapeName::Spikes => {
            let why = "is for shape = \"log-normal\"; remove it, or change the shape";
            refuse(&table.variation, "link.rtt_model.variation", why)?;
            RttShape::Spikes {
                share: table.spike_share.get_or_insert(Real::clamped(0.1)).get(),
                height: table.spike_height.get_or_insert(Real::clamped(4.0)).get(),
            }
        }
    };
    let order = delivery(*table.order.get_or_insert_default());
    let model = RttModel {
        mean,
        autocorrelation,
        shape,
    };
    Ok(Delay::Modelled { model, order })
}

const fn delivery(order: DelayOrder) -> DeliveryOrder {
    match order {
        DelayOrder::InOrder => DeliveryOrder::InOrder,
        DelayOrder::Reorder => DeliveryOrder::Reorder,
    }
}

/// What may wait.
pub(super) fn queue(table: &mut QueueTable, key: &str) -> Result<QueueLimit, Problem> {
    match (table.packets, table.bytes) {
        (Some(_), Some(_)) => Err(Problem::at(
            format!("{key}.bytes"),
            format!("{key}.packets limits the queue already; give one of them"),
        )),
        (None, Some(bytes)) => Ok(QueueLimit::Bytes(ByteCount::as_bytes(bytes.get()))),
        (packets, None) => {
            let packets = packets.unwrap_or(Packets::clamped(DEFAULT_QUEUE_PACKETS));
            table.packets = Some(packets);
            Ok(QueueLimit::Packets(packets.get_u32()))
        }
    }
}

//! Variations of a link: `[link.stops]`, `[link.jitter]`, `[link.late]`, `[link.recorded]`.

use std::sync::Arc;

use airtcp_link::{
    BaseDelay, Conditions, Delay, DeliveryOrder, Jitter, JitterShape, Late, RandomStops, Service,
    StopLength, Stops, VariableDelay,
};
use airtcp_units::Duration;

use super::refuse;
use crate::document::{JitterTable, LateTable, StopsTable};
use crate::error::Problem;
use crate::inputs::Inputs;
use crate::names::{
    DelayOrder, JitterName, LossDirection, StopLengthName, StopProcess, StoppedPackets,
};

/// The stops of a link.
#[derive(Clone, Debug)]
pub(super) struct LinkStops {
    stops: Stops,
    packets: StoppedPackets,
    direction: LossDirection,
}

/// The stops that `[link.stops]` describes.
pub(super) fn stops(table: &mut StopsTable, inputs: &Inputs) -> Result<LinkStops, Problem> {
    let process = *table.process.get_or_insert(match table {
        StopsTable { every: Some(_), .. } => StopProcess::Periodic,
        StopsTable { path: Some(_), .. } => StopProcess::Recorded,
        _ => StopProcess::default(),
    });
    refuse_keys_of_others(table, process)?;
    let stops = match process {
        StopProcess::Periodic => {
            let every = needed(table.every, key!(link.stops.every), "periodic")?.get();
            let length = needed(table.length, key!(link.stops.length), "periodic")?.get();
            if length >= every {
                return Err(Problem::at(
                    key!(link.stops.length),
                    format!("expected less than link.stops.every, which is {every}"),
                ));
            }
            Stops::Periodic { every, length }
        }
        StopProcess::Random => {
            let length = needed(table.length, key!(link.stops.length), "random")?.get();
            Stops::Random(RandomStops {
                working: needed(table.working, key!(link.stops.working), "random")?.get(),
                length: match table.lengths() {
                    StopLengthName::Exponential => StopLength::Exponential(length),
                    StopLengthName::Fixed => StopLength::Fixed(length),
                },
                shared: None,
            })
        }
        StopProcess::Recorded => {
            let recording = needed(inputs.stops.as_ref(), key!(link.stops.path), "recorded")?;
            Stops::Recorded(Arc::clone(&recording.content))
        }
    };
    Ok(LinkStops {
        stops,
        packets: table.packets(),
        direction: table.direction(),
    })
}

fn needed<T>(value: Option<T>, key: &str, process: &str) -> Result<T, Problem> {
    value.ok_or_else(|| {
        Problem::at(
            key,
            format!("is missing; link.stops.process = {process:?} needs it"),
        )
    })
}

fn refuse_keys_of_others(table: &StopsTable, process: StopProcess) -> Result<(), Problem> {
    let why = |owner: &str| {
        format!("belongs to link.stops.process = \"{owner}\"; remove it, or choose that")
    };
    if process != StopProcess::Periodic {
        refuse_keys!(table, key!(link.stops), why("periodic"); every);
    }
    if process != StopProcess::Random {
        refuse_keys!(table, key!(link.stops), why("random"); working);
    }
    if process == StopProcess::Recorded {
        refuse_keys!(table, key!(link.stops), why("periodic\" or \"random"); length);
    }
    if process != StopProcess::Random {
        refuse_keys!(table, key!(link.stops), why("random"); lengths);
    }
    if process != StopProcess::Recorded {
        refuse_keys!(table, key!(link.stops), why("recorded"); path);
    }
    Ok(())
}

impl LinkStops {
    const fn stops_data(&self) -> bool {
        matches!(self.direction, LossDirection::Data | LossDirection::Both)
    }

    const fn stops_acks(&self) -> bool {
        matches!(self.direction, LossDirection::Acks | LossDirection::Both)
    }

    /// The stops in which deliveries of data, and of acknowledgments, are held.
    pub fn held(&self) -> [Option<Stops>; 2] {
        let held = |stops: bool| {
            (stops && self.packets == StoppedPackets::Held).then(|| self.stops.clone())
        };
        [held(self.stops_data()), held(self.stops_acks())]
    }

    /// The services of both directions, which wait while the link stops.
    pub fn suspend(&self, data: Service, acks: Service) -> Result<(Service, Service), Problem> {
        if self.packets == StoppedPackets::Held {
            return Ok((data, acks));
        }
        let data = match self.stops_data() {
            true => self.suspended(data, key!(link.rate))?,
            false => data,
        };
        let acks = match self.stops_acks() {
            true => self.suspended(acks, key!(link.reverse.rate))?,
            false => acks,
        };
        Ok((data, acks))
    }

    fn suspended(&self, service: Service, key: &str) -> Result<Service, Problem> {
        match service {
            Service::Constant(rate) => Ok(Service::Suspended {
                rate,
                stops: self.stops.clone(),
            }),
            Service::Mahimahi(_) | Service::LoadDependent { .. } => Err(Problem::at(
                key!(link.stops.packets),
                "a recorded link (link.trace) shows its own stops; choose \"held\", or remove \
                 link.stops",
            )),
            Service::Unlimited | Service::Suspended { .. } => Err(Problem::at(
                key,
                "expected a rate such as \"10 Mbit/s\": packets wait for a link that stops \
                 (link.stops) only where it has one; or set link.stops.packets = \"held\"",
            )),
        }
    }
}

/// The parts of a direction's delay, beyond the constant one.
#[derive(Clone, Debug, Default)]
pub(super) struct Variation {
    pub recorded: Option<(Arc<Conditions>, DeliveryOrder)>,
    pub jitter: Option<JitterTable>,
    pub late: Option<LateTable>,
    pub held: Option<Stops>,
}

impl Variation {
    /// The delay of a direction with the constant part `constant`.
    pub fn delay(self, constant: Duration) -> Delay {
        let Self {
            recorded,
            jitter,
            late,
            held,
        } = self;
        if recorded.is_none() && jitter.is_none() && late.is_none() && held.is_none() {
            return Delay::Constant(constant);
        }
        Delay::Variable(Box::new(VariableDelay {
            base: recorded.map_or(BaseDelay::Constant(constant), |(conditions, order)| {
                BaseDelay::Recorded { conditions, order }
            }),
            jitter: jitter.map(|table| Jitter {
                shape: match table.shape.unwrap_or_default() {
                    JitterName::Uniform => JitterShape::Uniform,
                    JitterName::Exponential => JitterShape::Exponential,
                },
                mean: table.mean.get(),
                order: delivery(table.order.unwrap_or_default()),
            }),
            late: late.map(|table| Late {
                share: table.share,
                by: table.by.get(),
            }),
            held,
        }))
    }
}

/// Writes the defaults of jitter into the table.
pub(super) fn fill(jitter: Option<&mut JitterTable>) {
    if let Some(table) = jitter {
        table.shape();
        table.order();
    }
}

/// Refuses a constant delay where a recorded one replaces it.
pub(super) fn refuse_delay<T>(given: &Option<T>, key: &str) -> Result<(), Problem> {
    refuse(
        given,
        key,
        "a recording of delays (link.recorded) has them already; give one of them",
    )
}

/// The order in which packets with a variable delay arrive.
pub(super) const fn delivery(order: DelayOrder) -> DeliveryOrder {
    match order {
        DelayOrder::InOrder => DeliveryOrder::InOrder,
        DelayOrder::Reorder => DeliveryOrder::Reorder,
    }
}

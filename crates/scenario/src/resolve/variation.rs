//! Variations of a link: `[link.stops]`, `[link.jitter]`, `[link.late]`, `[link.recorded]`.

use std::sync::Arc;

use airtcp_link::{
    BaseDelay, Conditions, Delay, DeliveryOrder, Jitter, JitterShape, Late, RandomStops, Service,
    StopLength, Stops, VariableDelay,
};
use airtcp_units::Duration;

use super::refuse;
use crate::document::{JitterTable, LateTable, LinkStops, StopsTable};
use crate::error::Problem;
use crate::inputs::Inputs;
use crate::names::{DelayOrder, JitterName, LossDirection, StopLengthName, StoppedPackets};

/// The stops of a link.
#[derive(Clone, Debug)]
pub(super) struct ResolvedStops {
    stops: Stops,
    packets: StoppedPackets,
    direction: LossDirection,
}

/// The stops that `[link.stops]` describes.
pub(super) fn stops(table: &StopsTable, inputs: &Inputs) -> Result<ResolvedStops, Problem> {
    const PATH: &str = key!(link.stops);
    let stops = match LinkStops::of(table, PATH)? {
        LinkStops::Periodic { every, length } => {
            let (every, length) = (every.get(), length.get());
            if length >= every {
                return Err(Problem::at(
                    key!(link.stops.length),
                    format!("expected less than link.stops.every, which is {every}"),
                ));
            }
            Stops::Periodic { every, length }
        }
        LinkStops::Random {
            working,
            length,
            lengths,
        } => Stops::Random(RandomStops {
            working: working.get(),
            length: match lengths {
                StopLengthName::Exponential => StopLength::Exponential(length.get()),
                StopLengthName::Fixed => StopLength::Fixed(length.get()),
            },
            shared: None,
        }),
        LinkStops::Recorded { .. } => match &inputs.stops {
            Some(recording) => Stops::Recorded(Arc::clone(&recording.content)),
            None => return Err(Problem::at(key!(link.stops.path), "the file was not read")),
        },
    };
    Ok(ResolvedStops {
        stops,
        packets: table.packets(),
        direction: table.direction(),
    })
}

impl ResolvedStops {
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
                shape: match table.shape() {
                    JitterName::Uniform => JitterShape::Uniform,
                    JitterName::Exponential => JitterShape::Exponential,
                },
                mean: table.mean.get(),
                order: delivery(table.order()),
            }),
            late: late.map(|table| Late {
                share: table.share,
                by: table.by.get(),
            }),
            held,
        }))
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

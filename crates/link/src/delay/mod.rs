//! Delays of packets once their last byte has left.

mod model;
#[cfg(test)]
mod tests;
mod variable;

pub use model::{RttModel, RttShape};
pub use variable::{BaseDelay, Jitter, JitterShape, Late, VariableDelay};

use crate::frame::Transmission;
use crate::random::Stream;
pub use crate::trace::repeat::RecordingStart;
use crate::trace::rtt_log::RttSeries;
use airtcp_units::{Duration, Instant};
use std::sync::Arc;

/// No flow has this number: draws for the whole pipe come from its substream.
const NO_FLOW: u64 = u64::MAX;

/// One-way delay of a packet.
#[derive(Clone, Debug)]
pub enum Delay {
    /// Always the same time: packets stay in order.
    Constant(Duration),
    /// A time that varies.
    Variable(Box<VariableDelay>),
    /// A recorded series of round-trip times, in the trace-driven model of Miyim (paper 1): the
    /// k-th transmission of a flow takes the k-th time of the series, which repeats at its end. The
    /// whole round trip lies on this direction, so the other one must have no delay.
    Recorded {
        /// The recorded round-trip times.
        series: Arc<RttSeries>,
        /// Whether a packet may overtake another.
        order: DeliveryOrder,
        /// The time of the series that the first transmission takes.
        start: RecordingStart,
    },
    /// As recorded, but each run draws another series.
    Modelled {
        /// The distribution of the series.
        model: RttModel,
        /// Whether a packet may overtake another.
        order: DeliveryOrder,
    },
}

/// Whether a packet may overtake another of the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOrder {
    /// No: a packet that would arrive before its predecessor arrives together with it, after it
    /// (paper 1's Trace 2).
    InOrder,
    /// Yes: each arrives after its delay (paper 1's Trace 1).
    Reorder,
}

/// The running state of a [`Delay`].
#[derive(Clone, Debug)]
pub(crate) enum DelayProcess {
    Constant(Duration),
    Variable(Box<variable::VariableProcess>),
    Reorder(Replay),
    InOrder {
        replay: Replay,
        last_arrival: Instant,
    },
}

/// A series of round-trip times, and the choice of the time that a transmission takes.
#[derive(Clone, Debug)]
pub(crate) enum Replay {
    /// A recorded one, and the position of the first transmission in it.
    Recorded { series: Arc<RttSeries>, first: u64 },
    /// Drawn for this run.
    Drawn(Box<model::DrawnSeries>),
}

impl Replay {
    #[inline]
    fn of(&mut self, transmission: &Transmission) -> Duration {
        match self {
            Self::Recorded { series, first } => {
                series.wrapping(first.wrapping_add(transmission.index))
            }
            Self::Drawn(series) => series.wrapping(transmission.index),
        }
    }
}

impl DelayProcess {
    /// `stream` is the pipe's; draws here belong to no flow.
    pub(crate) fn new(delay: Delay, stream: Stream) -> Self {
        let (replay, order) = match delay {
            Delay::Constant(delay) => return Self::Constant(delay),
            Delay::Variable(delay) => {
                let process = variable::VariableProcess::new(*delay, stream);
                return Self::Variable(Box::new(process));
            }
            Delay::Recorded {
                series,
                order,
                start,
            } => {
                let first = match start {
                    RecordingStart::Beginning => 0,
                    RecordingStart::Random => {
                        let draw = stream.substream(NO_FLOW).draw(0);
                        draw % series.as_slice().len() as u64
                    }
                };
                (Replay::Recorded { series, first }, order)
            }
            Delay::Modelled { model, order } => {
                (Replay::Drawn(Box::new(model.series(stream))), order)
            }
        };
        match order {
            DeliveryOrder::Reorder => Self::Reorder(replay),
            DeliveryOrder::InOrder => Self::InOrder {
                replay,
                last_arrival: Instant::ZERO,
            },
        }
    }

    /// Arrival time of a packet with its last byte sent at `departure`.
    #[inline]
    pub(crate) fn arrival(&mut self, departure: Instant, transmission: &Transmission) -> Instant {
        match self {
            Self::Constant(delay) => departure + *delay,
            Self::Variable(process) => process.arrival(departure, transmission),
            Self::Reorder(replay) => departure + replay.of(transmission),
            Self::InOrder {
                replay,
                last_arrival,
            } => {
                *last_arrival = (*last_arrival).max(departure + replay.of(transmission));
                *last_arrival
            }
        }
    }
}

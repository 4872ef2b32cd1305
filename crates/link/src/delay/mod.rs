//! How long a packet is under way once its last byte has left.

use crate::pipe::Transmission;
use crate::trace::rtt_log::RttSeries;
use airtcp_units::{Duration, Instant};
use std::sync::Arc;

/// How long a packet is under way.
#[derive(Clone, Debug)]
pub enum Delay {
    /// Always the same time: packets stay in order.
    Constant(Duration),
    /// A recorded series of round-trip times, in the trace-driven model of Miyim (paper 1): the
    /// k-th transmission of a flow takes the k-th time of the series, which starts again at its end.
    /// The whole round trip lies on this direction, so the other one is to have none.
    Recorded {
        /// The recorded round-trip times.
        series: Arc<RttSeries>,
        /// Whether a packet may overtake another.
        order: DeliveryOrder,
    },
}

/// Whether a packet may overtake another of the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOrder {
    /// No: one that would arrive before its predecessor arrives together with it, behind it (paper 1's
    /// Trace 2).
    InOrder,
    /// Yes: each arrives after its own time (paper 1's Trace 1).
    Reorder,
}

/// The running state of a [`Delay`].
#[derive(Clone, Debug)]
pub(crate) enum DelayProcess {
    Constant(Duration),
    Reorder(Arc<RttSeries>),
    InOrder {
        series: Arc<RttSeries>,
        last_arrival: Instant,
    },
}

impl DelayProcess {
    pub(crate) fn new(delay: Delay) -> Self {
        match delay {
            Delay::Constant(delay) => Self::Constant(delay),
            Delay::Recorded {
                series,
                order: DeliveryOrder::Reorder,
            } => Self::Reorder(series),
            Delay::Recorded {
                series,
                order: DeliveryOrder::InOrder,
            } => Self::InOrder {
                series,
                last_arrival: Instant::ZERO,
            },
        }
    }

    /// When a packet whose last byte left at `departure` arrives.
    #[inline]
    pub(crate) fn arrival(&mut self, departure: Instant, transmission: &Transmission) -> Instant {
        match self {
            Self::Constant(delay) => departure + *delay,
            Self::Reorder(series) => departure + series.wrapping(transmission.index),
            Self::InOrder {
                series,
                last_arrival,
            } => {
                *last_arrival =
                    (*last_arrival).max(departure + series.wrapping(transmission.index));
                *last_arrival
            }
        }
    }
}

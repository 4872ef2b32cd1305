//! A delay that varies: with time as recorded, by jitter, by late packets, and by stops in which
//! deliveries are held.

use std::sync::Arc;

use airtcp_units::{Duration, Instant, Probability};

use super::DeliveryOrder;
use crate::frame::Transmission;
use crate::random::Stream;
use crate::stops::{HeldDeliveries, Stops};
use crate::trace::conditions::Conditions;

/// Jitter and lateness draw from these parts of a pipe's stream: no flow has so high a number.
const JITTER: u64 = u64::MAX - 3;
const LATENESS: u64 = u64::MAX - 4;

/// A delay that varies. A packet meets the parts in the order of the fields.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableDelay {
    /// The part common to every packet.
    pub base: BaseDelay,
    /// A further part, drawn for each.
    pub jitter: Option<Jitter>,
    /// Packets that come late, and let others overtake them.
    pub late: Option<Late>,
    /// Stops in which deliveries are held until the end of the stop; the link keeps transmitting.
    pub held: Option<Stops>,
}

/// The part of a delay common to every packet.
#[derive(Clone, Debug, PartialEq)]
pub enum BaseDelay {
    /// Constant.
    Constant(Duration),
    /// As recorded at the time of departure of the packet's last byte.
    Recorded {
        /// The recording.
        conditions: Arc<Conditions>,
        /// Whether a packet may overtake another when the delay becomes shorter.
        order: DeliveryOrder,
    },
}

/// A delay beyond the base delay: drawn for each packet, by flow and number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// The shape of the distribution.
    pub shape: JitterShape,
    /// Its mean.
    pub mean: Duration,
    /// Whether a packet may overtake another.
    pub order: DeliveryOrder,
}

/// The distribution of jitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JitterShape {
    /// Uniform from 0 to twice the mean.
    #[default]
    Uniform,
    /// Exponential.
    Exponential,
}

/// A share of the packets is late, each drawn by flow and number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Late {
    /// The share.
    pub share: Probability,
    /// Additional delay.
    pub by: Duration,
}

/// The running state of a [`VariableDelay`].
#[derive(Clone, Debug)]
pub(crate) struct VariableProcess {
    base: BaseDelay,
    jitter: Option<Jitter>,
    late: Option<Late>,
    held: Option<HeldDeliveries>,
    jitter_draws: Stream,
    late_draws: Stream,
    /// End of the longest recorded delay so far, before jitter.
    last_recorded: Instant,
    /// Latest arrival so far among the packets that keep their order.
    last_in_order: Instant,
}

impl VariableProcess {
    pub(super) fn new(delay: VariableDelay, stream: Stream) -> Self {
        Self {
            base: delay.base,
            jitter: delay.jitter,
            late: delay.late,
            held: delay.held.map(|stops| HeldDeliveries::new(stops, stream)),
            jitter_draws: stream.substream(JITTER),
            late_draws: stream.substream(LATENESS),
            last_recorded: Instant::ZERO,
            last_in_order: Instant::ZERO,
        }
    }

    /// Arrival time of a packet with its last byte sent at `departure`. Departures may not
    /// decrease.
    pub(super) fn arrival(&mut self, departure: Instant, transmission: &Transmission) -> Instant {
        let mut arrival = match &self.base {
            BaseDelay::Constant(delay) => departure + *delay,
            BaseDelay::Recorded { conditions, order } => {
                let arrival = departure + conditions.at(departure).delay;
                self.last_recorded = self.last_recorded.max(arrival);
                match order {
                    DeliveryOrder::InOrder => self.last_recorded,
                    DeliveryOrder::Reorder => arrival,
                }
            }
        };
        if let Some(jitter) = self.jitter {
            let draws = self.jitter_draws.substream(u64::from(transmission.flow));
            arrival += jitter.of(draws, transmission.index);
            if jitter.order == DeliveryOrder::InOrder {
                arrival = arrival.max(self.last_in_order);
                self.last_in_order = arrival;
            }
        }
        if let Some(late) = self.late {
            let draws = self.late_draws.substream(u64::from(transmission.flow));
            if late.share.happens(draws.draw(transmission.index)) {
                arrival += late.by;
            }
        }
        match &mut self.held {
            Some(held) => held.release(departure, arrival),
            None => arrival,
        }
    }
}

impl Jitter {
    fn of(&self, draws: Stream, index: u64) -> Duration {
        let times_mean = match self.shape {
            JitterShape::Uniform => 2.0 * draws.uniform(index),
            JitterShape::Exponential => draws.exponential(index),
        };
        let seconds = self.mean.as_secs_f64() * times_mean;
        Duration::from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

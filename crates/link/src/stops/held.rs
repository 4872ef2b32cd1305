//! Deliveries held by a stop: packets that would arrive during it arrive when it ends, all at once.

use std::collections::VecDeque;

use airtcp_units::{Duration, Instant};

use super::{Stop, StopSequence, Stops};
use crate::random::Stream;

/// The stops that deliveries meet.
#[derive(Clone, Debug)]
pub(crate) enum HeldDeliveries {
    Periodic {
        every: Duration,
        length: Duration,
    },
    Listed {
        sequence: StopSequence,
        /// Stops that a packet may still meet: packets overtake each other, so that one may arrive
        /// before a stop that another has met.
        known: VecDeque<Stop>,
    },
}

impl HeldDeliveries {
    pub(crate) fn new(stops: Stops, own: Stream) -> Self {
        if let Stops::Periodic { every, length } = stops {
            return Self::Periodic { every, length };
        }
        let sequence = StopSequence::new(stops, own)
            .unwrap_or_else(|| unreachable!("only periodic stops are no sequence"));
        Self::Listed {
            sequence,
            known: VecDeque::new(),
        }
    }

    /// Delivery time of a packet that left at `departure` and would arrive at `arrival`. Successive
    /// departures may not decrease.
    pub(crate) fn release(&mut self, departure: Instant, arrival: Instant) -> Instant {
        if arrival == Instant::FAR_FUTURE {
            return arrival;
        }
        match self {
            Self::Periodic { every, length } => {
                let (every, length) = (every.as_nanos().max(1), length.as_nanos());
                let into = arrival.as_nanos() % every;
                if arrival.as_nanos() < every || into >= length {
                    arrival
                } else if length >= every {
                    Instant::FAR_FUTURE
                } else {
                    arrival + Duration::from_nanos(length - into)
                }
            }
            Self::Listed { sequence, known } => {
                while known.front().is_some_and(|stop| stop.end <= departure) {
                    known.pop_front();
                }
                let mut released = known.iter().fold(arrival, held_by);
                // The stop in which a packet would arrive may be directly followed by another.
                let mut after = known.back().map_or(departure, |stop| stop.end);
                while known.back().is_none_or(|stop| stop.start <= released) {
                    let Some(stop) = sequence.ending_after(after) else {
                        break;
                    };
                    after = stop.end;
                    released = held_by(released, &stop);
                    known.push_back(stop);
                }
                released
            }
        }
    }
}

/// Delivery time of a packet that would arrive at `arrival`, if this is the only stop.
fn held_by(arrival: Instant, stop: &Stop) -> Instant {
    if (stop.start..stop.end).contains(&arrival) {
        stop.end
    } else {
        arrival
    }
}

//! Stops of a link: at regular intervals, at random, or as recorded.
//!
//! Stops are a function of the seed and of their number only: a remedy that sends more does not
//! shift them. Their effect on packets depends on the user: with [`Service::Suspended`] they wait
//! for the link, [`VariableDelay`] keeps serving and delivers them together when the stop ends.
//!
//! [`Service::Suspended`]: crate::Service::Suspended
//! [`VariableDelay`]: crate::delay::VariableDelay

mod held;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use airtcp_units::{Duration, Instant};

use crate::random::Stream;
pub use crate::trace::stop_list::Stop;
use crate::trace::stop_list::StopList;
pub(crate) use held::HeldDeliveries;

/// Stops draw from this part of a pipe's stream: no flow has so high a number.
const STOPS: u64 = u64::MAX - 2;

/// The stops of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Stops {
    /// At regular intervals.
    Periodic {
        /// From the start of one stop to the start of the next; the first begins after this time.
        every: Duration,
        /// Duration of a stop. If it is at least `every` the link never resumes.
        length: Duration,
    },
    /// At random: the link alternately works and stops, for times that are independent of each
    /// other.
    Random(RandomStops),
    /// As recorded.
    Recorded(Arc<StopList>),
}

/// A link that alternately works and stops, each for a random time. It works at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomStops {
    /// Mean of the exponential working times.
    pub working: Duration,
    /// The durations of stops.
    pub length: StopLength,
    /// Source of the times: the stream that both directions of a link share. Without it each pipe
    /// draws separate times.
    pub shared: Option<Stream>,
}

/// The length of a stop at a random time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopLength {
    /// Constant.
    Fixed(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
}

impl Stops {
    /// The same stops; random ones, and the start of a repeating recording, are drawn from
    /// `shared`, so that all users of the same stream stop at the same times.
    #[must_use]
    pub fn shared(self, shared: Stream) -> Self {
        match self {
            Self::Random(random) => Self::Random(RandomStops {
                shared: Some(shared),
                ..random
            }),
            Self::Recorded(list) => Self::Recorded(list.begun(shared)),
            periodic @ Self::Periodic { .. } => periodic,
        }
    }
}

impl Stops {
    /// The stops of a link with the stream `own` before `end`: the drawn stops, as a list that can
    /// be replayed.
    #[must_use]
    pub fn until(&self, own: Stream, end: Instant) -> StopList {
        let mut stops = Vec::new();
        if let Self::Periodic { every, length } = *self {
            let mut start = Instant::ZERO + every;
            while start < end && every > Duration::ZERO {
                stops.push(Stop {
                    start,
                    end: start + length,
                });
                start += every;
            }
        } else if let Some(mut sequence) = StopSequence::new(self.clone(), own) {
            let mut after = Instant::ZERO;
            while let Some(stop) = sequence.ending_after(after)
                && stop.start < end
            {
                after = stop.end;
                stops.push(stop);
            }
        }
        StopList::new(stops)
    }
}

/// The consecutive stops of a link.
#[derive(Clone, Debug)]
pub(crate) enum StopSequence {
    Random(Draws),
    Recorded { list: Arc<StopList>, place: usize },
}

/// Stops as they are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    stops: RandomStops,
    stream: Stream,
    /// The number of stops drawn, and the last of them.
    count: u64,
    last: Stop,
}

impl Draws {
    fn new(stops: RandomStops, own: Stream) -> Self {
        let mut draws = Self {
            stops,
            stream: stops.shared.unwrap_or_else(|| own.substream(STOPS)),
            count: 0,
            last: Stop {
                start: Instant::ZERO,
                end: Instant::ZERO,
            },
        };
        draws.advance();
        draws
    }

    /// Stop number k takes the draws 2k and 2k + 1.
    fn advance(&mut self) {
        let first = self.count * 2;
        let start = self.last.end + self.exponential(self.stops.working, first);
        let length = match self.stops.length {
            StopLength::Fixed(length) => length,
            StopLength::Exponential(mean) => self.exponential(mean, first + 1),
        };
        self.count += 1;
        self.last = Stop {
            start,
            end: start + length,
        };
    }

    fn exponential(&self, mean: Duration, draw: u64) -> Duration {
        let seconds = mean.as_secs_f64() * self.stream.exponential(draw);
        Duration::from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

impl StopSequence {
    /// The stops of a pipe that draws from `own`; `None` for periodic ones, which are arithmetic.
    pub(crate) fn new(stops: Stops, own: Stream) -> Option<Self> {
        match stops {
            Stops::Periodic { .. } => None,
            Stops::Random(random) => Some(Self::Random(Draws::new(random, own))),
            Stops::Recorded(list) => Some(Self::Recorded { list, place: 0 }),
        }
    }

    /// The first stop that ends after `at`, which may not lie before the `at` of an earlier call;
    /// `None` when no stop follows.
    pub(crate) fn ending_after(&mut self, at: Instant) -> Option<Stop> {
        match self {
            Self::Random(draws) => {
                while draws.last.end <= at {
                    if draws.last.end == Instant::FAR_FUTURE {
                        return None;
                    }
                    draws.advance();
                }
                Some(draws.last)
            }
            Self::Recorded { list, place } => {
                if at == Instant::FAR_FUTURE {
                    return None;
                }
                while list.met(*place)?.end <= at {
                    *place += 1;
                }
                list.met(*place)
            }
        }
    }
}

//! The history of a channel with a few packets, for comparison in tests: recorded from a medium, or
//! computed by a second model.

use airtcp_units::{Duration, Instant};
use proptest::prelude::*;

use crate::frame::{
    ChannelObserver, Fate, FrameKind, Occupancy, Offer, Outcome, PacketClass, RetryLimit, Urgency,
};
use crate::mac::Medium;
use crate::mac::own_retry_limits::{OwnRetryLimits, StationRetryLimits};

/// A packet handed to a station; packets are identified by their position in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Time, in ticks.
    pub at: u64,
    pub from: u32,
    pub to: u32,
    pub bytes: u32,
    pub flow: u32,
    pub class: PacketClass,
    /// Time from then to the expiry of its sender's timer, if known.
    pub expires_after: Option<Duration>,
}

/// A frame on the air, its times in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OnAir {
    pub station: u32,
    pub start: u64,
    pub end: u64,
    pub frame: FrameKind,
    pub attempt: u32,
    pub fate: Fate,
    pub mpdus: u32,
    pub damaged: u32,
}

/// The events on a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct History {
    /// Length of a tick; all times are multiples of it.
    tick: Duration,
    pub frames: Vec<OnAir>,
    /// Delivery time of each packet, in ticks, and its number of attempts.
    pub delivered: Vec<(u64, u32, u32)>,
    /// Packets acknowledged to the sender, and their attempts.
    pub acknowledged: Vec<(u32, u32)>,
    /// Packet, attempts, and whether it had arrived.
    pub discarded: Vec<(u32, u32, bool)>,
    /// Packets for which there was no room.
    pub refused: Vec<u32>,
}

impl ChannelObserver for History {
    fn occupied(&mut self, occupancy: &Occupancy) {
        self.frames.push(OnAir {
            station: occupancy.station,
            start: self.ticks(occupancy.start),
            end: self.ticks(occupancy.end),
            frame: occupancy.frame,
            attempt: occupancy.attempt,
            fate: occupancy.fate,
            mpdus: occupancy.mpdus,
            damaged: occupancy.damaged,
        });
    }
}

impl History {
    pub(super) const fn new(tick: Duration) -> Self {
        Self {
            tick,
            frames: Vec::new(),
            delivered: Vec::new(),
            acknowledged: Vec::new(),
            discarded: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Runs a medium until nothing is left to do; simultaneous events begin with packet arrivals.
    pub(super) fn of(medium: &mut impl Medium<u32>, arrivals: &[Arrival], tick: Duration) -> Self {
        let mut history = Self::new(tick);
        for (packet, arrival) in (0_u32..).zip(arrivals) {
            let now = Instant::ZERO + tick * arrival.at;
            while medium.next_wakeup() < now {
                history.wake(medium);
            }
            let urgency = arrival.expires_after.map(|left| Urgency {
                expires: now + left,
                timeout: left,
                round_trip: Duration::from_millis(5),
                in_flight: 0,
            });
            let offer = Offer {
                bytes: arrival.bytes,
                flow: arrival.flow,
                class: arrival.class,
                urgency,
            };
            let way = (arrival.from, arrival.to);
            if !medium.push(now, way, offer, packet, &mut history) {
                history.refused.push(packet);
            }
            assert!(medium.next_wakeup() >= now, "woken in the past");
        }
        while medium.next_wakeup() < Instant::FAR_FUTURE {
            history.wake(medium);
        }
        history.sort();
        history
    }

    fn wake(&mut self, medium: &mut impl Medium<u32>) {
        let now = medium.next_wakeup();
        let limit = Instant::ZERO + Duration::from_secs(60);
        assert!(now < limit, "it does not come to rest");
        medium.on_wakeup(now, self);
        assert!(medium.next_wakeup() >= now, "woken in the past");
        while let Some(outcome) = medium.poll() {
            match outcome {
                Outcome::Delivered {
                    packet, attempts, ..
                } => self.delivered.push((self.ticks(now), packet, attempts)),
                Outcome::Acknowledged {
                    packet, attempts, ..
                } => self.acknowledged.push((packet, attempts)),
                Outcome::Discarded {
                    packet,
                    attempts,
                    arrived,
                    ..
                } => self.discarded.push((packet, attempts, arrived)),
                Outcome::Retried { .. } | Outcome::Dropped { .. } => {}
            }
        }
    }

    /// Simultaneous events have no order.
    pub(super) fn sort(&mut self) {
        self.frames
            .sort_by_key(|frame| (frame.start, frame.station));
        self.delivered.sort_unstable();
        self.acknowledged.sort_unstable();
        self.discarded.sort_unstable();
    }

    /// Passes if a second model has the same history; otherwise shows both around the first frame
    /// that differs.
    pub(super) fn agrees_with(&self, theirs: &Self) -> Result<(), TestCaseError> {
        let differs = (0..self.frames.len().max(theirs.frames.len()))
            .find(|&place| self.frames.get(place) != theirs.frames.get(place));
        if let Some(place) = differs {
            let near = |frames: &[OnAir]| {
                let first = place.saturating_sub(4).min(frames.len());
                frames[first..frames.len().min(place + 3)].to_vec()
            };
            prop_assert!(
                false,
                "frame {place}\nours {:#?}\ntheirs {:#?}",
                near(&self.frames),
                near(&theirs.frames)
            );
        }
        prop_assert_eq!(self, theirs);
        Ok(())
    }

    fn ticks(&self, at: Instant) -> u64 {
        let (nanos, tick) = (at.as_nanos(), self.tick.as_nanos());
        assert_eq!(nanos % tick, 0, "{at:?}");
        nanos / tick
    }
}

/// Limits of a few attempts, or unlimited.
pub(super) fn retry_limit() -> impl Strategy<Value = RetryLimit> {
    prop::sample::select(vec![1, 2, 4, 0]).prop_map(|attempts| {
        std::num::NonZeroU32::new(attempts).map_or(RetryLimit::Unlimited, RetryLimit::Attempts)
    })
}

/// No own limits, or a few, each way.
pub(super) fn station_retry_limits() -> impl Strategy<Value = StationRetryLimits> {
    let own = || {
        let limits = prop::collection::vec(retry_limit(), 0..=3);
        limits.prop_map(|limits| OwnRetryLimits::taken_in_turn(&limits))
    };
    (own(), own()).prop_map(|(from_mobile, to_mobile)| StationRetryLimits {
        from_mobile,
        to_mobile,
    })
}

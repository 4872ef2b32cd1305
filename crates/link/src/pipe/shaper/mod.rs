//! A shaper in front of the link: it limits the rate to a little below the link's, so that packets
//! wait where CAKE manages them and not in a queue at the link. The rate may follow the delay
//! measured beyond the shaper.
//!
//! That delay is measured by probes handed to the link: the waiting time of the queue and the
//! link's delay. A probe takes no time of the link's, finds room in its queue and is not lost, and
//! the shaper lets it pass at once, as CAKE does with a sparse flow.

use std::collections::VecDeque;

use airtcp_units::{BitRate, Duration, Instant};

use crate::frame::{Admission, QueuedPacket};
use crate::queue::cake::autorate::{RateControl, Step};
use crate::queue::cake::{Cake, CakeConfig};
use crate::queue::{EcnField, QueueLimit};
use crate::random::Stream;

/// Maximum number of packets in a shaper (Linux, `cake_init`).
const MAX_PACKETS: u32 = 10_240;

/// The shaper.
#[derive(Clone, Debug)]
pub(super) struct Shaper<P> {
    queue: Cake<P>,
    /// Time at which it releases the next packet; [`Instant::FAR_FUTURE`] while it is empty.
    pub next: Instant,
    /// Packets that will not arrive, and why, oldest first.
    pub discarded: VecDeque<(P, Admission)>,
    control: Option<RateControl>,
    /// The link's delay, for probes there and their answers back.
    delay: Duration,
}

impl<P: EcnField> Shaper<P> {
    /// A shaper in front of a link with a delay of `delay`.
    pub fn new(config: CakeConfig, delay: Duration, draws: Stream) -> Self {
        let base = config.rate.unwrap_or(BitRate::from_bps(u64::MAX));
        let control = config.autorate;
        let control = control.map(|limits| RateControl::new(limits, base, config.largest_packet));
        Self {
            queue: Cake::new(config, QueueLimit::Packets(MAX_PACKETS), draws),
            next: Instant::FAR_FUTURE,
            discarded: VecDeque::new(),
            control,
            delay,
        }
    }

    /// Lets the rate follow measurements up to `until`; `waits` returns the waiting time of a probe
    /// sent at its argument. A probe sent at `until` itself is not measured yet.
    ///
    /// A rate has no effect before the next packet is released, so this is called then and not at
    /// each step: an idle pipe schedules no wake-ups.
    pub fn follow(&mut self, until: Instant, mut waits: impl FnMut(Instant) -> Duration) {
        let Some(control) = &mut self.control else {
            return;
        };
        let before = control.rate();
        loop {
            let (at, step) = control.next();
            if at >= until {
                break;
            }
            match step {
                Step::Meter => control.meter(at),
                Step::Answer => control.answer(at),
                Step::Probe => control.probe(at, waits(at) + self.delay, self.delay),
            }
        }
        if control.rate() != before {
            self.queue.set_rate(control.rate());
        }
    }

    /// The rate that it shapes to, if that follows the link's.
    #[cfg(test)]
    pub fn rate(&self) -> Option<BitRate> {
        self.control.as_ref().map(RateControl::rate)
    }

    pub const fn packets(&self) -> usize {
        self.queue.packets()
    }

    pub const fn bytes(&self) -> u64 {
        self.queue.bytes()
    }

    pub fn push(&mut self, waiting: QueuedPacket<P>) {
        let (now, discarded) = (waiting.since, &mut self.discarded);
        self.queue.push(waiting, |dropped| {
            discarded.push_back((dropped.packet, Admission::Overflow));
        });
        self.look_ahead(now);
    }

    /// The packet that it releases at `now`.
    pub fn take(&mut self, now: Instant) -> Option<QueuedPacket<P>> {
        let discarded = &mut self.discarded;
        let taken = self.queue.dequeue(now, |dropped| {
            discarded.push_back((dropped.packet, Admission::Overflow));
        });
        if let (Some(control), Some(taken)) = (&mut self.control, &taken) {
            control.count(taken.transmission.bytes);
        }
        self.look_ahead(now);
        taken
    }

    fn look_ahead(&mut self, now: Instant) {
        self.next = if self.queue.packets() == 0 {
            Instant::FAR_FUTURE
        } else {
            self.queue.release().max(now)
        };
    }
}

#[cfg(test)]
mod tests;

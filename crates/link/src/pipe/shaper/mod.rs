//! A shaper in front of the link: it lets no more through than a rate a little below the link's, so
//! that packets wait where CAKE manages them and not in a queue behind it.

use std::collections::VecDeque;

use airtcp_units::Instant;

use crate::frame::{Admission, QueuedPacket};
use crate::queue::cake::{Cake, CakeConfig};
use crate::queue::{EcnField, QueueLimit};
use crate::random::Stream;

/// Packets that a shaper holds at most (Linux, `cake_init`).
const MOST_PACKETS: u32 = 10_240;

/// The shaper.
#[derive(Clone, Debug)]
pub(super) struct Shaper<P> {
    queue: Cake<P>,
    /// When it lets the next packet go; [`Instant::FAR_FUTURE`] while none waits.
    pub next: Instant,
    /// Packets that will not arrive, and why, oldest first.
    pub discarded: VecDeque<(P, Admission)>,
}

impl<P: EcnField> Shaper<P> {
    pub fn new(config: CakeConfig, draws: Stream) -> Self {
        Self {
            queue: Cake::new(config, QueueLimit::Packets(MOST_PACKETS), draws),
            next: Instant::FAR_FUTURE,
            discarded: VecDeque::new(),
        }
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

    /// The packet that it lets go at `now`.
    pub fn take(&mut self, now: Instant) -> Option<QueuedPacket<P>> {
        let discarded = &mut self.discarded;
        let taken = self.queue.dequeue(now, |dropped| {
            discarded.push_back((dropped.packet, Admission::Overflow));
        });
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

//! A queue for each station, served in turn: "a round robin queueing mechanism where each
//! destination mobile node would have its queue at the access point. An unsuccessfully transmitted
//! packet would not be dropped but would be put in the head of its corresponding queue" (Fotiadis &
//! Siris §V).

use std::collections::VecDeque;

use crate::frame::PendingPacket;

/// The stations' turns, and the failed heads of their queues.
#[derive(Clone, Debug)]
pub(crate) struct ByStation<P> {
    /// The station served last.
    last: u32,
    failed: VecDeque<PendingPacket<P>>,
}

impl<P: Copy> ByStation<P> {
    pub(super) const fn new() -> Self {
        Self {
            last: 0,
            failed: VecDeque::new(),
        }
    }

    /// Takes a packet that failed: the head of its station's queue.
    pub(super) fn add(&mut self, failed: PendingPacket<P>) {
        self.failed.push_back(failed);
    }

    /// The head of the queue of the next station: the next backlogged one by number.
    pub(super) fn select(
        &mut self,
        fresh: &mut VecDeque<PendingPacket<P>>,
    ) -> Option<PendingPacket<P>> {
        let behind_last = |to: u32| to.wrapping_sub(self.last).wrapping_sub(1);
        let station = self
            .failed
            .iter()
            .chain(fresh.iter())
            .map(|waiting| waiting.to)
            .min_by_key(|&to| behind_last(to))?;
        self.last = station;
        take_first(&mut self.failed, station).or_else(|| take_first(fresh, station))
    }

    /// Packets queued for a station, and their bytes.
    pub(super) fn waiting_for(&self, to: u32, fresh: &VecDeque<PendingPacket<P>>) -> (usize, u64) {
        self.failed
            .iter()
            .chain(fresh)
            .filter(|waiting| waiting.to == to)
            .fold((0, 0), |(packets, bytes), waiting| {
                (packets + 1, bytes + u64::from(waiting.offer.bytes))
            })
    }

    pub(super) fn len(&self) -> usize {
        self.failed.len()
    }
}

fn take_first<P: Copy>(
    queue: &mut VecDeque<PendingPacket<P>>,
    station: u32,
) -> Option<PendingPacket<P>> {
    let place = queue.iter().position(|waiting| waiting.to == station)?;
    queue.remove(place)
}

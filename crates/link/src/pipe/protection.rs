//! The part of a pipe that sends repair packets.

use airtcp_units::Instant;

use super::Pipe;
use super::fec::Fec;
use crate::frame::Transmission;
use crate::queue::EcnField;

impl<P: EcnField> Pipe<P> {
    /// Takes a packet that is served from `start` to `departure` to its block, and sends the repair
    /// packets after a complete one. Returns the start of the last packet served.
    #[inline(never)]
    pub(super) fn protect(
        &mut self,
        start: Instant,
        departure: Instant,
        transmission: Transmission,
        packet: P,
        lost: bool,
    ) -> Instant {
        let lost = lost || self.errors.loses_at(departure, &transmission);
        let arrival = (!lost).then(|| self.delays.arrival(departure, &transmission));
        let Some(mut fec) = self.fec.take() else {
            return start;
        };
        if let Some((arrival, packet)) = fec.take(&transmission, packet, departure, arrival) {
            self.insert(arrival, packet);
        }
        let mut last = start;
        if fec.is_complete() {
            let first = self.server.next_start_behind(start);
            last = self.send_repairs(&mut fec, first).unwrap_or(start);
        }
        self.fec = Some(fec);
        last
    }

    /// Sends the repair packets of a block from `start` on, and ends it. Returns the start of the
    /// last one, if there are any.
    fn send_repairs(&mut self, fec: &mut Fec<P>, mut start: Instant) -> Option<Instant> {
        let count = fec.repairs();
        let (mut arrived, mut end, mut last) = (Vec::new(), Instant::ZERO, None);
        for number in 0..count {
            let repair = fec.next_repair();
            let departure = self.server.serve(start, repair.bytes);
            last = Some(start);
            let lost = self.errors.loses(&repair) || self.errors.loses_at(departure, &repair);
            end = self.delays.arrival(departure, &repair);
            if !lost {
                arrived.push(end);
            }
            if number + 1 < count {
                start = self.server.next_start_behind(start);
            }
        }
        arrived.sort_unstable();
        for (arrival, packet) in fec.end_block(count, &arrived, end) {
            self.insert(arrival, packet);
        }
        last
    }

    /// When an incomplete block ends for which somebody waits. Packets in a queue may complete it.
    pub(super) fn block_ends(&self, fec: &Fec<P>) -> Instant {
        let is_queued = self
            .managed
            .as_ref()
            .is_some_and(|queue| queue.packets() > 0);
        match fec.ends() {
            Some(end) if fec.waiting() > 0 && !is_queued => end,
            _ => Instant::FAR_FUTURE,
        }
    }

    /// Ends an incomplete block for which somebody waits, if that is due by `now`.
    #[inline(never)]
    pub(super) fn end_block_if_waiting(&mut self, now: Instant) {
        let is_due = |fec: &Fec<P>| self.block_ends(fec) <= now;
        if self.fec.as_deref().is_some_and(is_due) {
            self.end_block_by(now);
        }
    }

    /// Ends an incomplete block if its pause is over by `now`, at the pause's end.
    #[inline(never)]
    pub(super) fn end_block_by(&mut self, now: Instant) {
        let ends = self.fec.as_ref().and_then(|fec| fec.ends());
        if let Some(end) = ends.filter(|end| *end <= now)
            && let Some(mut fec) = self.fec.take()
        {
            let start = self.server.next_start(end);
            self.send_repairs(&mut fec, start);
            self.fec = Some(fec);
        }
    }
}

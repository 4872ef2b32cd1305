//! Both ends of a block ACK agreement (§10.25.6).

use super::*;

/// The sender's window, and the receiver's with its reordering buffer.
#[derive(Default)]
pub(super) struct Peer {
    /// MPDUs to be retransmitted.
    pub(super) retries: BTreeMap<u64, Packet>,
    /// Numbers that were sent, and are neither acknowledged nor given up.
    pub(super) outstanding: BTreeSet<u64>,
    pub(super) next: u64,
    /// WinStartB.
    start: u64,
    /// Packets after a missing one: the packet, its attempts, and its arrival.
    held: BTreeMap<u64, (u32, u32, u64)>,
    ready: Vec<(u32, u32)>,
}

impl Peer {
    /// WinStartO.
    pub(super) fn window_start(&self) -> u64 {
        self.outstanding.first().copied().unwrap_or(self.next)
    }

    /// Whether another number is within the window.
    pub(super) fn is_open(&self, window: u16) -> bool {
        self.next < self.window_start() + u64::from(window)
    }

    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// An MPDU arrives for the first time; `false` when its number is before WinStartB.
    pub(super) fn receive(
        &mut self,
        number: u64,
        name: u32,
        attempts: u32,
        now: u64,
        window: u16,
    ) -> bool {
        if number < self.start {
            return false;
        }
        let end = self.start + u64::from(window) - 1;
        if number > end {
            self.move_to(number - u64::from(window) + 1);
        }
        self.held.insert(number, (name, attempts, now));
        self.pass_what_is_next();
        true
    }

    /// A block ACK request, or a time-out, moves WinStartB: all before it is handed on.
    pub(super) fn move_to(&mut self, start: u64) {
        if start > self.start {
            let rest = self.held.split_off(&start);
            let before = std::mem::replace(&mut self.held, rest);
            let before = before.into_values();
            self.ready
                .extend(before.map(|(name, attempts, _)| (name, attempts)));
            self.start = start;
        }
        self.pass_what_is_next();
    }

    fn pass_what_is_next(&mut self) {
        while let Some((name, attempts, _)) = self.held.remove(&self.start) {
            self.ready.push((name, attempts));
            self.start += 1;
        }
    }

    /// Packets that have been held for the timeout are delivered.
    pub(super) fn time_out(&mut self, now: u64, timeout: Duration) {
        while let Some((&number, &(.., since))) = self.held.first_key_value()
            && since + timeout.as_nanos() <= now
        {
            self.move_to(number);
        }
    }

    pub(super) fn hand_on(&mut self) -> impl Iterator<Item = (u32, u32)> {
        std::mem::take(&mut self.ready).into_iter()
    }
}

//! The transmitting side of a bearer (TS 36.322 §5.1 and §5.2, TS 38.322 §5.2 and §5.3).

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::poll::Poll;
use super::status::Status;
use super::{Bytes, DataPdu, MAX_HEADER, header};
use crate::mac::ran::config::{Generation, RlcConfig, RlcMode};
use crate::mac::send_window::{SendWindow, Window};

/// A sequence number that is not settled.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    whole: Bytes,
    /// How much of it was sent, from its start.
    sent: u64,
    retransmissions: u32,
    is_settled: bool,
}

/// A part that is to be retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Missing {
    number: u64,
    part: Bytes,
}

/// The transmitting side of a bearer.
#[derive(Clone, Debug)]
pub(in crate::mac::ran) struct Transmitter {
    generation: Generation,
    config: RlcConfig,
    window: SendWindow,
    /// The numbers from the window's base on.
    numbered: VecDeque<Numbered>,
    /// The retransmission buffer, in the order of its numbers.
    missing: VecDeque<Missing>,
    poll: Poll,
    /// Whether a PDU was retransmitted as often as it may be.
    has_failed: bool,
}

impl Transmitter {
    pub(in crate::mac::ran) const fn is_acknowledged(&self) -> bool {
        matches!(self.config.mode, RlcMode::Acknowledged)
    }

    pub(in crate::mac::ran) fn new(generation: Generation, config: RlcConfig) -> Self {
        let window = match config.mode {
            RlcMode::Acknowledged => Window::Numbers(config.window),
            // Numbers of UM leave at once.
            RlcMode::Unacknowledged => Window::Unlimited,
        };
        Self {
            generation,
            config,
            window: SendWindow::new(window),
            numbered: VecDeque::new(),
            missing: VecDeque::new(),
            poll: Poll::default(),
            has_failed: false,
        }
    }

    /// Whether the window allows a new number.
    pub(in crate::mac::ran) fn is_open(&self) -> bool {
        self.window.is_open()
    }

    /// Whether nothing is to be sent and nothing unacknowledged.
    pub(in crate::mac::ran) fn is_idle(&self) -> bool {
        self.numbered.is_empty()
    }

    /// Bytes to be retransmitted, with their headers, and of the number that was sent in part.
    pub(in crate::mac::ran) fn backlog(&self) -> u64 {
        let again = self.missing.iter();
        let again: u64 = again.map(|missing| missing.part.len() + MAX_HEADER).sum();
        let poll = if self.poll.is_due() { 1 } else { 0 };
        again
            + self
                .unsent_part()
                .map_or(0, |(_, part)| part.len() + MAX_HEADER)
            + poll
    }

    /// Whether the number of times that a PDU may be retransmitted was reached; asks once.
    pub(in crate::mac::ran) const fn take_failure(&mut self) -> bool {
        std::mem::replace(&mut self.has_failed, false)
    }

    /// Parts that are to be retransmitted, in the order of their numbers, and how often they were
    /// before.
    pub(in crate::mac::ran) fn missing(&self) -> impl Iterator<Item = (Bytes, u32)> {
        let base = self.window.base();
        self.missing.iter().map(move |missing| {
            let place = missing.number.saturating_sub(base) as usize;
            let numbered = self.numbered.get(place);
            // Being in the buffer counts.
            let before = numbered.map_or(0, |numbered| numbered.retransmissions.saturating_sub(1));
            (missing.part, before)
        })
    }

    /// A PDU of at most `room` bytes that retransmits the part at a place of
    /// [`missing`](Self::missing); its bytes with headers are counted in the second place.
    pub(in crate::mac::ran) fn retransmit(
        &mut self,
        place: usize,
        room: u64,
    ) -> Option<(DataPdu, u64)> {
        let first = *self.missing.get(place)?;
        let numbered = self.numbered_of(first.number)?;
        let (whole, retransmissions) = (numbered.whole, numbered.retransmissions);
        let taken = first.part.len().min(room.checked_sub(MAX_HEADER)?);
        if taken == 0 {
            return None;
        }
        let part = Bytes {
            start: first.part.start,
            end: first.part.start + taken,
        };
        if taken == first.part.len() {
            self.missing.remove(place);
        } else if let Some(rest) = self.missing.get_mut(place) {
            rest.part.start = part.end;
        }
        let pdu = DataPdu {
            number: first.number,
            whole,
            part,
            poll: false,
            retransmissions,
        };
        Some((pdu, taken + header(self.generation, whole, part)))
    }

    /// Whether a part of the last number was not sent yet: NR, a packet that a grant cut.
    pub(in crate::mac::ran) fn has_unsent_part(&self) -> bool {
        self.unsent_part().is_some()
    }

    fn unsent_part(&self) -> Option<(u64, Bytes)> {
        let last = self.numbered.back()?;
        let number = self.window.base() + self.numbered.len() as u64 - 1;
        let part = Bytes {
            start: last.sent,
            end: last.whole.end,
        };
        (part.len() > 0).then_some((number, part))
    }

    /// Numbers a range that continues the stream; [`send`](Self::send) sends it.
    pub(in crate::mac::ran) fn number(&mut self, whole: Bytes) {
        self.window.number();
        self.numbered.push_back(Numbered {
            whole,
            sent: whole.start,
            retransmissions: 0,
            is_settled: false,
        });
    }

    /// The next PDU of at most `room` bytes with data of the last number that was not sent yet.
    pub(in crate::mac::ran) fn send(&mut self, room: u64) -> Option<(DataPdu, u64)> {
        let (number, unsent) = self.unsent_part()?;
        let last = self.numbered.back_mut()?;
        let whole = last.whole;
        let taken = unsent.len().min(room.checked_sub(MAX_HEADER)?);
        if taken == 0 {
            return None;
        }
        let part = Bytes {
            start: unsent.start,
            end: unsent.start + taken,
        };
        last.sent = part.end;
        let is_acknowledged = self.is_acknowledged();
        if !is_acknowledged && part.end == whole.end {
            self.settle(number);
        }
        let poll = is_acknowledged && self.poll.on_new_data(taken, &self.config);
        let pdu = DataPdu {
            number,
            whole,
            part,
            poll,
            retransmissions: 0,
        };
        Some((pdu, taken + header(self.generation, whole, part)))
    }

    /// A transport block with these PDUs leaves. The last one polls if nothing else is to be sent,
    /// or the window is full (TS 36.322 §5.2.2.1), or a poll has to be repeated.
    pub(in crate::mac::ran) fn leave(
        &mut self,
        now: Instant,
        pdus: &mut [DataPdu],
        is_queue_empty: bool,
    ) {
        if !self.is_acknowledged() {
            return;
        }
        let Some(highest) = self.highest() else {
            return;
        };
        let is_empty = is_queue_empty && self.missing.is_empty() && !self.has_unsent_part();
        let stalls = is_empty || !self.is_open() || self.poll.is_due();
        let Some(last) = pdus.last_mut() else {
            // The queue dropped its packets after PDUs without a poll had left.
            if is_empty && !self.is_idle() {
                if self.poll.is_due() {
                    self.retransmit_highest();
                } else if !self.poll.is_running() {
                    self.poll.start(now, highest, &self.config);
                }
            }
            return;
        };
        last.poll |= stalls;
        if pdus.iter().any(|pdu| pdu.poll) {
            self.poll.on_polled(now, highest, &self.config);
        }
    }

    /// Highest number that was sent.
    fn highest(&self) -> Option<u64> {
        (self.window.base() + self.numbered.len() as u64).checked_sub(1)
    }

    /// Expiry of `t-PollRetransmit`: if nothing else can carry the poll, the highest number is
    /// retransmitted (TS 36.322 §5.2.2.3, TS 38.322 §5.3.3.4).
    pub(in crate::mac::ran) fn on_time(&mut self, now: Instant, is_queue_empty: bool) {
        if !self.poll.expires(now) {
            return;
        }
        let has_new = !is_queue_empty && self.is_open() || self.has_unsent_part();
        if !has_new && self.missing.is_empty() {
            self.retransmit_highest();
        }
    }

    fn retransmit_highest(&mut self) {
        let base = self.window.base();
        let is_unsettled = |numbered: &Numbered| !numbered.is_settled;
        if let Some(place) = self.numbered.iter().rposition(is_unsettled) {
            let whole = self.numbered[place].whole;
            self.miss(base + place as u64, whole);
        }
    }

    /// A status arrives.
    pub(in crate::mac::ran) fn on_status(&mut self, status: &Status) {
        self.poll.on_status(status.acknowledged);
        let mut missing = status.missing.iter().peekable();
        for number in self.window.base()..status.acknowledged {
            let mut is_missing = false;
            while missing.next_if(|(other, _)| *other < number).is_some() {}
            while let Some((_, part)) = missing.next_if(|(other, _)| *other == number) {
                is_missing = true;
                if let Some(whole) = self.numbered_of(number).map(|numbered| numbered.whole) {
                    self.miss(number, part.unwrap_or(whole));
                }
            }
            if !is_missing {
                self.settle(number);
            }
        }
    }

    fn numbered_of(&mut self, number: u64) -> Option<&mut Numbered> {
        let place = usize::try_from(number.checked_sub(self.window.base())?).ok()?;
        self.numbered.get_mut(place)
    }

    /// A number needs nothing more.
    fn settle(&mut self, number: u64) {
        let Some(numbered) = self.numbered_of(number).filter(|known| !known.is_settled) else {
            return;
        };
        numbered.is_settled = true;
        self.missing.retain(|missing| missing.number != number);
        self.window.settle(number);
        while self.numbered.front().is_some_and(|first| first.is_settled) {
            self.numbered.pop_front();
        }
    }

    /// A part of a number is missing: it joins the retransmission buffer unless it is there (TS
    /// 36.322 §5.2.1).
    fn miss(&mut self, number: u64, part: Bytes) {
        let Some(sent) = self.numbered_of(number).map(|numbered| numbered.sent) else {
            return;
        };
        // The receiver misses the rest of a packet that is being sent, too.
        let part = Bytes {
            start: part.start,
            end: part.end.min(sent).max(part.start),
        };
        let wanted = Missing { number, part };
        if part.len() == 0 {
            return;
        }
        if self.missing.iter().any(|missing| missing.number == number) {
            return self.extend(wanted);
        }
        let limit = self.config.max_retransmissions;
        let Some(numbered) = self.numbered_of(number).filter(|known| !known.is_settled) else {
            return;
        };
        numbered.retransmissions += 1;
        let retransmissions = numbered.retransmissions;
        // RETX_COUNT is 0 at the first.
        self.has_failed |= limit.is_reached(retransmissions - 1);
        self.insert(wanted);
    }

    /// A further part of a number that is to be retransmitted already.
    fn extend(&mut self, wanted: Missing) {
        let covers = |known: &Missing| {
            known.number == wanted.number
                && known.part.start < wanted.part.end
                && wanted.part.start < known.part.end
        };
        if !self.missing.iter().any(covers) {
            self.insert(wanted);
        }
    }

    fn insert(&mut self, wanted: Missing) {
        let key = |missing: &Missing| (missing.number, missing.part.start);
        let place = self
            .missing
            .partition_point(|known| key(known) < key(&wanted));
        self.missing.insert(place, wanted);
    }
}

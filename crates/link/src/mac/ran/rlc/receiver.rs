//! The receiving side of a bearer (TS 36.322 §5.1 and §5.2, TS 38.322 §5.2 and §5.3).

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::status::Status;
use super::{Bytes, DataPdu};
use crate::mac::ran::config::{Generation, RlcConfig, RlcMode};

/// The part of a number that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Progress {
    Nothing,
    /// The missing parts, in order.
    Partly(Vec<Bytes>),
    Complete,
}

/// The receiving side of a bearer.
#[derive(Clone, Debug)]
pub(in crate::mac::ran) struct Receiver {
    generation: Generation,
    config: RlcConfig,
    /// The first number that has not arrived whole: VR(R), RX_Next, VR(UR).
    next: u64,
    /// End of the stream before it.
    in_order: u64,
    /// The numbers from there to the highest that has arrived, and their ranges.
    numbers: VecDeque<(Progress, u64)>,
    /// Numbers below this are reported: VR(MS), RX_Highest_Status.
    reported: u64,
    /// `t-Reordering` or `t-Reassembly`: the number after the highest when it began, VR(X) or
    /// RX_Next_Status_Trigger, and its expiry.
    gap: Option<(u64, Instant)>,
    /// The highest number whose poll waits until it is below `reported`.
    polled: Option<u64>,
    is_status_wanted: bool,
    /// When `t-StatusProhibit` expires.
    prohibited_until: Instant,
    /// Numbers that have arrived whole and were not taken yet, by their ranges' ends.
    complete: VecDeque<u64>,
}

impl Receiver {
    pub(in crate::mac::ran) const fn new(generation: Generation, config: RlcConfig) -> Self {
        Self {
            generation,
            config,
            next: 0,
            in_order: 0,
            numbers: VecDeque::new(),
            reported: 0,
            gap: None,
            polled: None,
            is_status_wanted: false,
            prohibited_until: Instant::ZERO,
            complete: VecDeque::new(),
        }
    }

    /// End of the stream that has arrived without a gap, or is given up.
    pub(in crate::mac::ran) const fn in_order(&self) -> u64 {
        self.in_order
    }

    /// End of the range of a number that has arrived whole, in any order: in NR, that of a packet.
    pub(in crate::mac::ran) fn take_complete(&mut self) -> Option<u64> {
        self.complete.pop_front()
    }

    /// Whether it waits for nothing and has nothing to report.
    pub(in crate::mac::ran) fn is_idle(&self) -> bool {
        self.numbers.is_empty() && self.gap.is_none() && !self.is_status_wanted
    }

    /// A PDU arrives.
    pub(in crate::mac::ran) fn on_pdu(&mut self, now: Instant, pdu: &DataPdu) {
        if pdu.number >= self.next {
            self.place(pdu);
        }
        self.advance();
        let is_acknowledged = self.config.mode == RlcMode::Acknowledged;
        if is_acknowledged && pdu.poll {
            // TS 36.322 §5.2.3: at once unless the number may still be missing some.
            if pdu.number < self.reported {
                self.is_status_wanted = true;
            } else {
                self.polled = self.polled.max(Some(pdu.number));
            }
        }
        self.answer_poll();
        self.watch_gap(now, self.next);
    }

    fn place(&mut self, pdu: &DataPdu) {
        let place = usize::try_from(pdu.number - self.next).unwrap_or(usize::MAX);
        while self.numbers.len() <= place {
            self.numbers.push_back((Progress::Nothing, 0));
        }
        let (progress, end) = &mut self.numbers[place];
        *end = pdu.whole.end;
        let mut missing = match progress {
            Progress::Complete => return,
            Progress::Nothing => vec![pdu.whole],
            Progress::Partly(missing) => std::mem::take(missing),
        };
        remove(&mut missing, pdu.part);
        *progress = if missing.is_empty() {
            if self.generation == Generation::Nr {
                self.complete.push_back(pdu.whole.end);
            }
            Progress::Complete
        } else {
            Progress::Partly(missing)
        };
    }

    /// Moves on over numbers that have arrived whole.
    fn advance(&mut self) {
        while let Some((Progress::Complete, end)) = self.numbers.front() {
            self.in_order = *end;
            self.numbers.pop_front();
            self.next += 1;
        }
        self.report_from(self.reported);
    }

    /// `reported` becomes the first number from `number` on that has not arrived whole.
    fn report_from(&mut self, number: u64) {
        let mut reported = number.max(self.next);
        let place = |number: u64| usize::try_from(number - self.next).unwrap_or(usize::MAX);
        while let Some((Progress::Complete, _)) = self.numbers.get(place(reported)) {
            reported += 1;
        }
        self.reported = reported;
    }

    fn answer_poll(&mut self) {
        if self.polled.is_some_and(|number| number < self.reported) {
            self.polled = None;
            self.is_status_wanted = true;
        }
    }

    /// The number after the highest that has arrived: VR(H), RX_Next_Highest.
    fn highest(&self) -> u64 {
        self.next + self.numbers.len() as u64
    }

    /// Whether there is a gap before the highest arrived number, from `number` on.
    fn has_gap_from(&self, number: u64) -> bool {
        let highest = self.highest();
        if self.generation == Generation::Lte || highest != number + 1 {
            return highest > number;
        }
        // NR: the rest of a packet whose segments arrive is no gap (TS 38.322 §5.2.3.2.3).
        let place = usize::try_from(number - self.next).unwrap_or(usize::MAX);
        match self.numbers.get(place) {
            Some((Progress::Partly(missing), end)) => {
                missing.len() > 1 || missing.iter().any(|part| part.end < *end)
            }
            _ => false,
        }
    }

    /// Starts the timer for a gap from `number` on, and stops it when its gap is closed (TS 36.322
    /// §5.1.3.2.3, TS 38.322 §5.2.3.2.3).
    fn watch_gap(&mut self, now: Instant, number: u64) {
        if let Some((trigger, _)) = self.gap {
            let is_closed = trigger == self.next + 1 && !self.has_gap_from(self.next);
            if trigger <= self.next || is_closed {
                self.gap = None;
            }
        }
        if self.gap.is_none() && self.has_gap_from(number) {
            self.gap = Some((self.highest(), now + self.config.reordering));
        }
    }

    /// Expiry of the timer: AM reports missing numbers, UM skips them.
    pub(in crate::mac::ran) fn on_time(&mut self, now: Instant) {
        let Some((trigger, expires)) = self.gap else {
            return;
        };
        if expires > now {
            return;
        }
        self.gap = None;
        match self.config.mode {
            RlcMode::Acknowledged => {
                self.report_from(trigger);
                self.is_status_wanted = true;
                self.answer_poll();
            }
            RlcMode::Unacknowledged => {
                while self.next < trigger {
                    let Some((_, end)) = self.numbers.pop_front() else {
                        break;
                    };
                    self.next += 1;
                    self.in_order = self.in_order.max(end);
                }
                self.advance();
            }
        }
        self.watch_gap(now, self.reported);
    }

    /// Whether a status is to be sent now.
    pub(in crate::mac::ran) fn wants_status(&self, now: Instant) -> bool {
        self.is_status_wanted && now >= self.prohibited_until
    }

    /// The status, in at most `room` bytes; `None` if there is nothing to send or no room.
    pub(in crate::mac::ran) fn status(&mut self, now: Instant, room: u64) -> Option<(Status, u64)> {
        if !self.wants_status(now) {
            return None;
        }
        let most = Status::room(room)?;
        let mut status = Status {
            acknowledged: self.reported,
            missing: Vec::new(),
        };
        let below = usize::try_from(self.reported - self.next).unwrap_or(usize::MAX);
        'numbers: for ((progress, _), number) in self.numbers.iter().take(below).zip(self.next..) {
            let parts = match progress {
                Progress::Complete => continue,
                Progress::Nothing => &[][..],
                Progress::Partly(missing) => missing,
            };
            let parts = parts.iter().map(|part| Some(*part));
            let whole = (*progress == Progress::Nothing).then_some(None);
            for part in whole.into_iter().chain(parts) {
                if status.missing.len() == most {
                    // The status ends before the first that it has no room for.
                    status.acknowledged = number;
                    status.missing.retain(|(other, _)| *other < number);
                    break 'numbers;
                }
                status.missing.push((number, part));
            }
        }
        self.is_status_wanted = false;
        self.prohibited_until = now + self.config.status_prohibit;
        let bytes = Status::bytes(status.missing.len());
        Some((status, bytes))
    }

    /// Bytes of the status to be sent now, if any.
    pub(in crate::mac::ran) fn status_bytes(&self, now: Instant) -> u64 {
        if !self.wants_status(now) {
            return 0;
        }
        let below = usize::try_from(self.reported - self.next).unwrap_or(usize::MAX);
        let numbers = self.numbers.iter().take(below);
        let missing = numbers.map(|(progress, _)| match progress {
            Progress::Nothing => 1,
            Progress::Partly(missing) => missing.len(),
            Progress::Complete => 0,
        });
        Status::bytes(missing.sum())
    }
}

/// Removes `arrived` from the missing parts.
fn remove(missing: &mut Vec<Bytes>, arrived: Bytes) {
    let mut place = 0;
    while let Some(&part) = missing.get(place) {
        if part.end <= arrived.start {
            place += 1;
            continue;
        }
        if part.start >= arrived.end {
            return;
        }
        let before = Bytes {
            start: part.start,
            end: arrived.start.max(part.start),
        };
        let after = Bytes {
            start: arrived.end.min(part.end),
            end: part.end,
        };
        missing.remove(place);
        for left in [before, after] {
            if left.len() > 0 {
                missing.insert(place, left);
                place += 1;
            }
        }
    }
}

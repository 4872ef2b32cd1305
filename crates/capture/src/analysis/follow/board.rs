//! The scoreboard: the sender's data as ordered pieces, with the last transmission of each and its
//! acknowledgment state.

use std::collections::VecDeque;

use crate::index::Index;

/// A range of the stream with the same history for all bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub start: u64,
    pub end: u64,
    /// Its latest captured transmission, if any.
    pub last: Option<Index>,
    /// Number of transmissions seen.
    pub attempts: u32,
    pub sacked: bool,
}

impl Piece {
    /// Its bytes, if no transmission was captured.
    pub const fn unseen_bytes(&self) -> u64 {
        if self.attempts == 0 {
            self.end - self.start
        } else {
            0
        }
    }
}

/// State of the board before a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Bytes that had never been sent nor skipped.
    pub fresh: u64,
    /// Maximum number of earlier transmissions of any of its bytes.
    pub attempts: u32,
    /// The latest transmission of the first byte that had been sent before.
    pub previous: Option<Index>,
    /// Bytes that had been skipped: it fills a hole.
    pub filled: u64,
    /// Part of the range was already cumulatively acknowledged.
    pub acknowledged: bool,
    /// Part of the range was already SACKed.
    pub sacked: bool,
}

/// All data between the lowest unacknowledged and the highest sent byte.
#[derive(Clone, Debug)]
pub struct Board {
    pieces: VecDeque<Piece>,
    /// Ranges SACKed above `una`, ordered and disjoint.
    sacked: Vec<(u64, u64)>,
    /// The lowest unacknowledged byte.
    una: u64,
    /// One past the highest byte sent.
    end: u64,
    /// Bytes sent and neither acknowledged nor SACKed.
    open: u64,
}

impl Board {
    /// A board with the next byte at `start`.
    pub fn new(start: u64) -> Self {
        Self {
            pieces: VecDeque::new(),
            sacked: Vec::new(),
            una: start,
            end: start,
            open: 0,
        }
    }

    pub const fn una(&self) -> u64 {
        self.una
    }

    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Captured bytes that were neither acknowledged nor SACKed.
    pub const fn open(&self) -> u64 {
        self.open
    }

    /// One past the highest SACKed byte; `una` without any.
    pub fn highest_sacked(&self) -> u64 {
        self.sacked.last().map_or(self.una, |range| range.1)
    }

    /// Index of the first piece that ends after `offset`.
    fn place(&self, offset: u64) -> usize {
        self.pieces.partition_point(|piece| piece.end <= offset)
    }

    /// The last transmission of the byte at `offset`; `None` if not captured.
    pub fn last_of(&self, offset: u64) -> Option<Index> {
        let piece = self.pieces.get(self.place(offset));
        piece
            .filter(|piece| piece.start <= offset)
            .and_then(|piece| piece.last)
    }

    /// Splits the piece that contains `offset` in its interior.
    fn split(&mut self, offset: u64) {
        let at = self.place(offset);
        let Some(piece) = self.pieces.get_mut(at) else {
            return;
        };
        if piece.start >= offset {
            return;
        }
        let mut upper = *piece;
        piece.end = offset;
        upper.start = offset;
        self.pieces.insert(at + 1, upper);
    }

    /// Records transmission `index` of the bytes from `start` to `end`.
    pub fn send(&mut self, start: u64, end: u64, index: Index) -> Overlap {
        let mut overlap = Overlap {
            fresh: 0,
            attempts: 0,
            previous: None,
            filled: 0,
            acknowledged: start < self.una,
            sacked: false,
        };
        if start > self.end {
            self.pieces.push_back(Piece {
                start: self.end,
                end: start,
                last: None,
                attempts: 0,
                sacked: false,
            });
            self.end = start;
        }
        if start.max(self.una) < self.end.min(end) {
            self.repeat(start, end, index, &mut overlap);
        }
        if end > self.end {
            overlap.fresh = end - self.end;
            self.open += overlap.fresh;
            self.pieces.push_back(Piece {
                start: self.end,
                end,
                last: Some(index),
                attempts: 1,
                sacked: false,
            });
            self.end = end;
        }
        overlap
    }

    fn repeat(&mut self, start: u64, end: u64, index: Index, overlap: &mut Overlap) {
        self.split(start);
        self.split(end);
        for at in self.place(start)..self.pieces.len() {
            let piece = &mut self.pieces[at];
            if piece.start >= end {
                break;
            }
            overlap.sacked |= piece.sacked;
            if piece.attempts == 0 {
                overlap.filled += piece.end - piece.start;
                if !piece.sacked {
                    self.open += piece.end - piece.start;
                }
            } else if overlap.previous.is_none() {
                overlap.previous = piece.last;
            }
            overlap.attempts = overlap.attempts.max(piece.attempts);
            piece.attempts += 1;
            piece.last = Some(index);
        }
    }

    /// Processes a cumulative acknowledgment up to `ack`; `each` is called with every covered
    /// piece, lowest first. Bytes beyond the highest sent count as sent unseen.
    pub fn acknowledge(&mut self, ack: u64, mut each: impl FnMut(&Piece)) {
        if ack <= self.una {
            return;
        }
        self.split(ack);
        while let Some(piece) = self.pieces.front() {
            if piece.end > ack {
                break;
            }
            if !piece.sacked && piece.attempts > 0 {
                self.open -= piece.end - piece.start;
            }
            each(piece);
            self.pieces.pop_front();
        }
        self.una = ack;
        self.end = self.end.max(ack);
        while let Some(first) = self.sacked.first_mut() {
            if first.1 > ack {
                first.0 = first.0.max(ack);
                break;
            }
            self.sacked.remove(0);
        }
    }

    /// Processes a SACK block; `each` is called with every newly covered piece, lowest first.
    pub fn sack(&mut self, start: u64, end: u64, mut each: impl FnMut(&Piece)) {
        let (start, end) = (start.max(self.una), end.min(self.end));
        if start >= end {
            return;
        }
        // Merges the block with adjacent ranges.
        let first = self.sacked.partition_point(|range| range.1 < start);
        let behind = self.sacked.partition_point(|range| range.0 <= end);
        let touched = self.sacked.get(first..behind).unwrap_or(&[]);
        if let [only] = touched
            && only.0 <= start
            && end <= only.1
        {
            return;
        }
        let low = touched.first().map_or(start, |range| range.0.min(start));
        let high = touched.last().map_or(end, |range| range.1.max(end));
        let known: Vec<(u64, u64)> = touched.to_vec();
        self.sacked.splice(first..behind, [(low, high)]);
        let mut from = start;
        for range in known {
            self.sack_gap(from, range.0.min(end), &mut each);
            from = from.max(range.1);
        }
        self.sack_gap(from, end, &mut each);
    }

    fn sack_gap(&mut self, start: u64, end: u64, each: &mut impl FnMut(&Piece)) {
        if start >= end {
            return;
        }
        self.split(start);
        self.split(end);
        for at in self.place(start)..self.pieces.len() {
            let piece = &mut self.pieces[at];
            if piece.start >= end {
                break;
            }
            if piece.sacked {
                continue;
            }
            piece.sacked = true;
            if piece.attempts > 0 {
                self.open -= piece.end - piece.start;
            }
            each(piece);
        }
    }

    /// Bytes from `origin` on that the receiver reported as received.
    pub fn delivered(&self, origin: u64) -> u64 {
        let above: u64 = self.sacked.iter().map(|range| range.1 - range.0).sum();
        self.una.saturating_sub(origin) + above
    }

    /// Bytes of a range that were not SACKed.
    pub fn unsacked(&self, start: u64, end: u64) -> u64 {
        let known = |range: &(u64, u64)| range.1.min(end).saturating_sub(range.0.max(start));
        let (start_above, end) = (start.max(self.una), end.max(self.una));
        let known: u64 = self.sacked.iter().map(known).sum();
        (end - start_above.min(end)).saturating_sub(known)
    }

    /// One past the bytes from the lowest unacknowledged that were not SACKed.
    pub fn first_hole_end(&self) -> u64 {
        self.sacked.first().map_or(self.end, |range| range.0)
    }

    /// Whether any byte above `offset` was SACKed.
    pub fn is_sacked_above(&self, offset: u64) -> bool {
        self.sacked.last().is_some_and(|range| range.1 > offset)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A byte of the reference model.
    #[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
    struct Byte {
        attempts: u32,
        is_sacked: bool,
    }

    #[derive(Clone, Debug)]
    enum Step {
        Send(u64, u64),
        Acknowledge(u64),
        Sack(u64, u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0..60_u64, 1..9_u64).prop_map(|(start, length)| Step::Send(start, start + length)),
            (0..60_u64).prop_map(Step::Acknowledge),
            (0..60_u64, 1..9_u64).prop_map(|(start, length)| Step::Sack(start, start + length)),
        ];
        prop::collection::vec(step, 0..80)
    }

    proptest! {
        /// Compared with a model of individual bytes.
        #[test]
        fn pieces_are_ranges_of_bytes(steps in steps()) {
            let mut board = Board::new(0);
            let mut bytes = vec![Byte::default(); 100];
            let (mut una, mut end) = (0, 0);
            for (index, step) in (0..).zip(steps) {
                match step {
                    Step::Send(start, stop) => {
                        let overlap = board.send(start, stop, Index::new(index));
                        let old = start.max(una)..stop.min(end);
                        let fresh = stop.saturating_sub(end.max(start));
                        prop_assert_eq!(overlap.fresh, fresh);
                        prop_assert_eq!(overlap.acknowledged, start < una);
                        let most = old.clone().map(|at| bytes[at as usize].attempts).max();
                        prop_assert_eq!(overlap.attempts, most.unwrap_or(0));
                        let holes = old.filter(|at| bytes[*at as usize].attempts == 0).count();
                        prop_assert_eq!(overlap.filled, holes as u64);
                        for at in start.max(una)..stop {
                            bytes[at as usize].attempts += 1;
                        }
                        end = end.max(stop);
                    }
                    Step::Acknowledge(ack) => {
                        let mut covered = 0;
                        board.acknowledge(ack, |piece| covered += piece.end - piece.start);
                        prop_assert_eq!(covered, ack.min(end).saturating_sub(una));
                        una = una.max(ack);
                        end = end.max(ack);
                    }
                    Step::Sack(start, stop) => {
                        let mut covered = 0;
                        board.sack(start, stop, |piece| covered += piece.end - piece.start);
                        let mut expected = 0;
                        for at in start.max(una)..stop.min(end) {
                            expected += u64::from(!bytes[at as usize].is_sacked);
                            bytes[at as usize].is_sacked = true;
                        }
                        prop_assert_eq!(covered, expected);
                    }
                }
                let above = || (una..end).map(|at| bytes[at as usize]);
                let open = above().filter(|byte| byte.attempts > 0 && !byte.is_sacked).count();
                prop_assert_eq!(board.open(), open as u64);
                prop_assert_eq!((board.una(), board.end()), (una, end));
                let missing = |from: u64, to: u64| {
                    let is_missing = |at: &u64| *at >= una && !bytes[*at as usize].is_sacked;
                    (from..to).filter(is_missing).count() as u64
                };
                for (from, to) in [(0, 9), (una, end), (una + 3, end + 5), (20, 30)] {
                    let to = to.min(end);
                    prop_assert_eq!(board.unsacked(from, to), missing(from, to));
                }
                let first = (una..end).find(|at| bytes[*at as usize].is_sacked);
                prop_assert_eq!(board.first_hole_end(), first.unwrap_or(end));
                let highest = (una..end).rfind(|at| bytes[*at as usize].is_sacked);
                prop_assert_eq!(board.highest_sacked(), highest.map_or(una, |at| at + 1));
                let count: u64 = board.pieces.iter().map(|piece| piece.end - piece.start).sum();
                prop_assert_eq!(count, end - una, "the pieces leave nothing out");
            }
        }
    }
}

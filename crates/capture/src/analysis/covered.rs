//! Data newly covered by one ACK.

use airtcp_units::Instant;

use super::board::{NONE, Piece};
use super::found::{Answer, Repeat, Sent};

/// Data newly covered by one ACK.
pub(super) struct Covered<'a> {
    pub sent: &'a mut [Sent],
    pub repeats: &'a mut [Repeat],
    pub now: Instant,
    pub echo: Option<u32>,
    /// The lowest byte that was not acknowledged before.
    pub una: u64,
    /// The newest transmission of what was sent once.
    pub newest: u32,
    pub has_repeated: bool,
    /// Transmission caused by the last timeout; zero if none awaits a verdict.
    pub timed_out: u32,
    /// Something that was sent once, and before that.
    pub originals: bool,
    /// The last transmission of the byte that the ACK asks for.
    pub asks_for: u32,
    /// The last transmission of the lowest byte that the ACK covers cumulatively.
    pub hole: u32,
    /// Bytes that the ACK covers cumulatively.
    pub newly: u64,
    /// The place of the ACK among all.
    pub number: u32,
}

impl Covered<'_> {
    /// Takes a piece that the ACK covers newly, by SACK or cumulatively.
    pub fn take(&mut self, piece: &Piece, is_sack: bool) {
        let Piece {
            start,
            last,
            attempts,
            ..
        } = *piece;
        if last == NONE {
            return;
        }
        self.has_repeated |= attempts > 1;
        if attempts == 1 {
            self.originals |= last < self.timed_out;
        }
        if self.newest == NONE || last > self.newest {
            self.newest = last;
        }
        let answer = Answer {
            time: self.now,
            echo: if is_sack { None } else { self.echo },
            is_from_here: start <= self.una,
            hole: self.hole,
            asks_for: self.asks_for,
            newly: self.newly,
            number: self.number,
        };
        let mut at = last;
        while let Some(sent) = self.sent.get_mut(at as usize) {
            sent.acknowledged = self.now;
            if let Some(repeat) = self.repeats.get_mut(sent.repeat as usize) {
                repeat.answer.get_or_insert(answer);
            }
            if attempts == 1 {
                break;
            }
            at = sent.previous;
        }
    }
}

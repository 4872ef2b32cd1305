//! Data newly covered by one ACK.

use airtcp_units::Instant;

use super::super::findings::{Answer, Repeat, Sent};
use super::board::{Board, Piece};
use crate::index::Index;

/// What an ACK says, in positions of the stream.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    pub time: Instant,
    /// The byte that the receiver expects next.
    pub ack: u64,
    /// TSecr.
    pub echo: Option<u32>,
    /// The place of the ACK among all.
    pub number: u32,
    /// Transmission caused by the last timeout that may have been needless.
    pub timed_out: Option<Index>,
}

/// What an ACK covered newly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coverage {
    /// The newest transmission in the first SACK block that covers anything.
    pub newest_sacked: Option<Index>,
    /// The newest transmission that was covered cumulatively.
    pub newest: Option<Index>,
    /// Something covered cumulatively had been sent more than once, or SACKed before.
    pub has_repeated: bool,
    /// Something that was sent once, and before the last timeout.
    pub originals: bool,
    /// Bytes that never passed here.
    pub unseen_bytes: u64,
}

/// Takes the SACK blocks and then the cumulative acknowledgment of `report`, and writes down when
/// each transmission and each repeat was answered.
pub fn cover(
    board: &mut Board,
    (sent, repeats): (&mut [Sent], &mut [Repeat]),
    blocks: impl Iterator<Item = (u64, u64)>,
    report: Report,
) -> Coverage {
    let una = board.una();
    let mut pass = Pass {
        sent,
        repeats,
        una,
        report,
        answer: Answer {
            time: report.time,
            echo: None,
            is_from_here: false,
            hole: board.last_of(una),
            asks_for: board.last_of(report.ack),
            newly: report.ack.saturating_sub(una),
            number: report.number,
        },
        covered: Coverage::default(),
    };
    for (start, end) in blocks {
        // A D-SACK that lies below the acknowledgment tells nothing new.
        if end <= report.ack {
            continue;
        }
        let mut newest = None;
        board.sack(start, end, |piece| {
            newest = newest.max(pass.answer(piece, None));
        });
        pass.covered.newest_sacked = pass.covered.newest_sacked.or(newest);
    }
    board.acknowledge(report.ack, |piece| {
        if piece.sacked {
            pass.covered.has_repeated = true;
        } else {
            pass.covered.has_repeated |= piece.last.is_some() && piece.attempts > 1;
            let newest = pass.answer(piece, report.echo);
            pass.covered.newest = pass.covered.newest.max(newest);
        }
    });
    pass.covered
}

/// The pass over the pieces that an ACK covers.
struct Pass<'a> {
    sent: &'a mut [Sent],
    repeats: &'a mut [Repeat],
    /// The lowest byte that was not acknowledged before.
    una: u64,
    report: Report,
    /// What is the same in the answer to every piece.
    answer: Answer,
    covered: Coverage,
}

impl Pass<'_> {
    /// Writes down the answer to every transmission of a piece; returns the latest of them.
    fn answer(&mut self, piece: &Piece, echo: Option<u32>) -> Option<Index> {
        self.covered.unseen_bytes += piece.unseen_bytes();
        let last = piece.last?;
        let is_single = piece.attempts == 1;
        self.covered.originals |=
            is_single && self.report.timed_out.is_some_and(|timeout| last < timeout);
        let answer = Answer {
            echo,
            is_from_here: piece.start <= self.una,
            ..self.answer
        };
        let mut at = Some(last);
        while let Some(sent) = at.and_then(|at| self.sent.get_mut(at.get())) {
            sent.acknowledged = self.report.time;
            let repeat = sent.repeat.and_then(|at| self.repeats.get_mut(at.get()));
            if let Some(repeat) = repeat {
                repeat.answer.get_or_insert(answer);
            }
            if is_single {
                break;
            }
            at = sent.previous;
        }
        Some(last)
    }
}

//! Data newly covered by one ACK.

use airtcp_units::Instant;

use super::super::findings::{Answer, Repeat, Sent};
use super::board::{Board, Piece};
use crate::index::Index;

/// Content of an ACK, in stream positions.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    pub time: Instant,
    /// The next expected byte.
    pub ack: u64,
    /// TSecr.
    pub echo: Option<u32>,
    /// Index of the ACK.
    pub number: u32,
    /// Retransmission by the last timeout that may have been spurious.
    pub timed_out: Option<Index>,
}

/// Summary of newly covered data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coverage {
    /// The newest transmission in the first SACK block with new data.
    pub newest_sacked: Option<Index>,
    /// The newest transmission covered cumulatively.
    pub newest: Option<Index>,
    /// Whether cumulatively covered data had been retransmitted, or SACKed before.
    pub has_repeated: bool,
    /// Whether it covers data sent once, before the last timeout.
    pub originals: bool,
    /// Bytes that never passed here.
    pub unseen_bytes: u64,
}

/// Processes the SACK blocks and then the cumulative acknowledgment of `report`, and records the
/// answer to each transmission and each repeat.
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
        // A D-SACK below the acknowledgment carries no new information.
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

/// The pass over the pieces covered by an ACK.
struct Pass<'a> {
    sent: &'a mut [Sent],
    repeats: &'a mut [Repeat],
    /// The lowest previously unacknowledged byte.
    una: u64,
    report: Report,
    /// The part of the answer common to all pieces.
    answer: Answer,
    covered: Coverage,
}

impl Pass<'_> {
    /// Records the answer to every transmission of a piece; returns the latest of them.
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

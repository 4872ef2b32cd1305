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
    /// Maximum number of bytes that prompt one ACK.
    pub at_once: u64,
    /// Whether a duplicate prompted it, which its D-SACK block names.
    pub has_dsack: bool,
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
            is_prompted: false,
            hole: board.last_of(una),
            asks_for: board.last_of(report.ack),
            newly: report.ack.saturating_sub(una),
            number: report.number,
        },
        covered: Coverage::default(),
    };
    // The first block contains the segment that prompted the ACK (RFC 2018 §4), or names a
    // duplicate that did (RFC 2883 §4).
    let may_prompt = |bytes| !report.has_dsack && bytes <= report.at_once;
    let mut is_first = true;
    for (start, end) in blocks {
        // A D-SACK below the acknowledgment carries no new information.
        if end <= report.ack {
            continue;
        }
        let is_prompted = is_first && may_prompt(board.unsacked(start, end));
        is_first = false;
        let mut newest = None;
        board.sack(start, end, |piece| {
            newest = newest.max(pass.answer(piece, None, is_prompted));
        });
        pass.covered.newest_sacked = pass.covered.newest_sacked.or(newest);
    }
    // One that advances was prompted by the data that filled the first hole.
    let filled = board.first_hole_end().min(report.ack);
    let may_prompt = may_prompt(filled.saturating_sub(una));
    board.acknowledge(report.ack, |piece| {
        if piece.sacked {
            pass.covered.has_repeated = true;
        } else {
            pass.covered.has_repeated |= piece.last.is_some() && piece.attempts > 1;
            let is_prompted = may_prompt && piece.end <= filled;
            let newest = pass.answer(piece, report.echo, is_prompted);
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
    fn answer(&mut self, piece: &Piece, echo: Option<u32>, is_prompted: bool) -> Option<Index> {
        self.covered.unseen_bytes += piece.unseen_bytes();
        let last = piece.last?;
        let is_single = piece.attempts == 1;
        self.covered.originals |=
            is_single && self.report.timed_out.is_some_and(|timeout| last < timeout);
        let answer = Answer {
            echo,
            is_from_here: piece.start <= self.una,
            is_prompted,
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

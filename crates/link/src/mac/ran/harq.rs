//! Hybrid ARQ: processes that each have one transport block in transit (TS 36.321 §5.3.2, TS 38.321
//! §5.3.2).

use super::adaptation::Decoding;
use super::channel::SubbandBlocks;
use super::rlc::{DataPdu, Status};

/// Content of a transport block.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// RLC's status of the other direction.
    pub status: Option<Status>,
    /// Data.
    pub pdus: Vec<DataPdu>,
    /// Bytes that a user has left to send: a buffer status report. Of the uplink only.
    pub buffer_status: u64,
}

/// A transport block, and the state of its transmissions.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The first of the groups of resource blocks that it had, and how many resource blocks.
    pub first_group: u32,
    pub blocks: u32,
    pub decoding: Decoding,
    /// Whether the signal, as reported and by the outer loop's offset, was too weak for any scheme.
    pub is_below_all: bool,
    pub content: Content,
    /// Slot of the first transmission, at which its buffer status was so.
    pub filled: u64,
}

/// A process.
#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    /// The block, until its sender knows its fate.
    pub block: Option<Block>,
    /// The first slot in which the sender knows whether the last transmission was decoded.
    pub answered: u64,
    /// Transmissions of the block.
    pub transmissions: u32,
    /// Whether the last transmission was decoded, and whether the block is repeated.
    pub is_repeated: bool,
    /// Slot of the last transmission, and the ratio of signal to noise that it met.
    pub sent: u64,
    pub snr: f64,
    /// Resource blocks in each subband.
    pub shares: SubbandBlocks,
}

/// The processes of a user in a direction.
#[derive(Clone, Debug)]
pub(super) struct Harq {
    pub processes: Vec<Process>,
    /// Blocks sent, and negative acknowledgments: they number the draws.
    pub sent: u64,
    pub negative: u64,
}

impl Harq {
    pub(super) fn new(processes: u32) -> Self {
        Self {
            processes: vec![Process::default(); processes as usize],
            sent: 0,
            negative: 0,
        }
    }

    /// A process whose block has to be repeated and may be in `slot`, the one sent first if there
    /// are several.
    pub(super) fn to_repeat(&self, slot: u64) -> Option<usize> {
        let due = |process: &Process| process.is_repeated && process.answered <= slot;
        let processes = self.processes.iter().enumerate();
        let due = processes.filter(|(_, process)| due(process));
        due.min_by_key(|(_, process)| process.sent)
            .map(|(place, _)| place)
    }

    /// A process that can take a new block in `slot`.
    pub(super) fn free(&self, slot: u64) -> Option<usize> {
        let is_free = |process: &Process| process.block.is_none() && process.answered <= slot;
        self.processes.iter().position(is_free)
    }

    /// Whether no block is in transit.
    pub(super) fn is_idle(&self) -> bool {
        self.processes.iter().all(|process| process.block.is_none())
    }

    /// Blocks in transit are forgotten, as at a handover; returns their contents.
    pub(super) fn flush(&mut self) -> Vec<Content> {
        let taken = self.processes.iter_mut().filter_map(|process| {
            process.is_repeated = false;
            process.block.take()
        });
        taken.map(|block| block.content).collect()
    }
}

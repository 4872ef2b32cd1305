//! A user's access to the uplink: scheduling requests, buffer status reports, and the base
//! station's view of them (TS 36.321 §5.4.4 and §5.4.5, TS 38.321 the same).
//!
//! ```text
//!   user          data ── SR ──────────────── PUSCH, BSR ─────────────── PUSCH, BSR 0
//!   base station            └─ processing ─ grant ┘ └─ processing ─ grant ┘
//! ```
//!
//! The user asks once data has come to its empty buffer, at its next opportunity; each block that
//! it sends reports the rest. Meanwhile packets gather, acknowledgments too, and leave together.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use super::frame_structure::{FrameStructure, SlotDirection};

/// Slots after the last grant from which a user with data asks again (`retxBSR-Timer`, 320 ms; TS
/// 36.331 §6.3.2 gives the values).
const REPORT_AGAIN_MS: u64 = 320;

/// Sizes that a buffer status report can name end here (TS 36.321 table 6.1.3.1-1).
const MAX_REPORTED: u64 = 150_000;

/// A user's access to the uplink.
#[derive(Clone, Debug)]
pub(super) struct UplinkAccess {
    period: u64,
    /// The user's first opportunity.
    offset: u64,
    request_grant: u64,
    /// Slots of `retxBSR-Timer`.
    patience: u64,
    /// Whether the buffer holds data, and the base station knows of it, or will.
    had_data: bool,
    /// Whether the user will send a scheduling request.
    is_requesting: bool,
    /// Slot of the last grant.
    last_grant: u64,
    /// Bytes that the base station knows of and has not granted.
    known: u64,
    /// Reports in transit: the first slot for which the base station can use it, the slot at which
    /// the buffer was so, and its bytes.
    reports: VecDeque<(u64, u64, u64)>,
    /// The slot that the newest report describes.
    newest: u64,
    /// Slots of granted blocks, and their bytes, since the last report.
    granted: VecDeque<(u64, u64)>,
}

impl UplinkAccess {
    /// The access of user number `user`: users have their opportunities one after the other.
    pub(super) fn new(
        period: NonZeroU32,
        request_grant: u32,
        frame: &FrameStructure,
        user: usize,
    ) -> Self {
        let period = u64::from(period.get());
        let slot = frame.slot.as_nanos().max(1);
        Self {
            period,
            offset: user as u64 % period,
            request_grant: u64::from(request_grant),
            patience: (REPORT_AGAIN_MS * 1_000_000).div_ceil(slot),
            had_data: false,
            is_requesting: false,
            last_grant: 0,
            known: 0,
            reports: VecDeque::new(),
            newest: 0,
            granted: VecDeque::new(),
        }
    }

    /// The user's side of `slot`: `backlog` bytes are to be sent.
    pub(super) fn on_slot(&mut self, slot: u64, backlog: u64, frame: &FrameStructure) {
        let has_data = backlog > 0;
        if has_data && (!self.had_data || slot - self.last_grant > self.patience) {
            self.is_requesting = true;
        }
        self.had_data = has_data;
        if self.is_requesting && self.is_opportunity(slot, frame) {
            self.is_requesting = false;
            self.last_grant = slot;
            let usable = frame.reaction(slot, SlotDirection::Up);
            self.report(slot, usable, self.request_grant);
        }
    }

    /// Whether the user may send a scheduling request in `slot`: the first of the uplink from each
    /// multiple of the period on, shifted by the user's offset.
    fn is_opportunity(&self, slot: u64, frame: &FrameStructure) -> bool {
        let Some(since) = slot.checked_sub(self.offset) else {
            return false;
        };
        let begin = since / self.period * self.period + self.offset;
        frame.goes_up(slot) && (begin..slot).all(|earlier| !frame.goes_up(earlier))
    }

    /// A block that was filled in slot `filled` is decoded; its buffer status can be used for
    /// blocks from `usable` on. A block that was retransmitted may report an empty buffer that has
    /// asked for more since: what is older than the newest report is no news.
    pub(super) fn report(&mut self, filled: u64, usable: u64, bytes: u64) {
        if filled >= self.newest {
            self.newest = filled;
            self.reports
                .push_back((usable, filled, bytes.min(MAX_REPORTED)));
        }
    }

    /// Bytes that the base station knows of and has not granted, for a block in `slot`.
    pub(super) fn known(&mut self, slot: u64) -> u64 {
        while let Some(&(usable, filled, bytes)) = self.reports.front()
            && usable <= slot
        {
            self.reports.pop_front();
            self.granted.retain(|(granted, _)| *granted > filled);
            let later: u64 = self.granted.iter().map(|(_, bytes)| bytes).sum();
            self.known = bytes.saturating_sub(later);
        }
        self.known
    }

    /// The user sends a block of `bytes` in `slot`, after which `left` bytes are to be sent. Data
    /// that comes to the emptied buffer before the next slot is new to the base station (TS 36.321
    /// §5.4.5).
    pub(super) fn on_granted(&mut self, slot: u64, bytes: u64, left: u64) {
        self.had_data = left > 0;
        self.known = self.known.saturating_sub(bytes);
        self.granted.push_back((slot, bytes));
        self.last_grant = slot;
        self.is_requesting = false;
    }

    /// Nothing is known of the user any more, as after a handover.
    pub(super) fn reset(&mut self) {
        self.known = 0;
        self.reports.clear();
        self.granted.clear();
        self.had_data = false;
        self.is_requesting = false;
    }
}

//! From packets to frames: how large they are, and what precedes them.

use super::{ACCESS_POINT, Bss, MAC_BYTES};
use crate::mac::PacketClass;
use crate::mac::damage::{Frame, FrameDirection};
use crate::mac::transmit_queue::Waiting;
use airtcp_units::Instant;

impl<P: Copy> Bss<P> {
    /// Size of the next data frame of a packet: the whole, or one fragment of it.
    #[inline]
    pub(super) fn frame_bytes(&self, waiting: &Waiting<P>) -> u32 {
        let whole = waiting.offer.bytes + self.config.overhead;
        match self.config.fragmentation_threshold {
            Some(threshold) if whole > threshold => {
                let payload = whole.saturating_sub(MAC_BYTES);
                let done = waiting.fragments_done * (threshold - MAC_BYTES);
                MAC_BYTES + payload.saturating_sub(done).min(threshold - MAC_BYTES)
            }
            _ => whole,
        }
    }

    /// Whether the next data frame of a packet is its last.
    #[inline]
    pub(super) fn is_last_fragment(&self, waiting: &Waiting<P>) -> bool {
        let whole = waiting.offer.bytes + self.config.overhead;
        match self.config.fragmentation_threshold {
            Some(threshold) if whole > threshold => {
                let payload = whole.saturating_sub(MAC_BYTES);
                (waiting.fragments_done + 1) * (threshold - MAC_BYTES) >= payload
            }
            _ => true,
        }
    }

    /// Whether a frame of so many bytes is preceded by RTS and CTS.
    #[inline]
    pub(super) fn is_above_rts_threshold(&self, bytes: u32) -> bool {
        self.config
            .rts_threshold
            .is_some_and(|threshold| bytes > threshold)
    }

    /// The same for the next frame of the packet that a station has chosen.
    pub(super) fn is_chosen_above_rts_threshold(&mut self, station: u32) -> bool {
        match self.stations[station as usize].queue.current() {
            Some(&mut waiting) => self.is_above_rts_threshold(self.frame_bytes(&waiting)),
            None => false,
        }
    }

    /// Whether the radio damages a frame that is sent from its first bit to its last.
    #[inline]
    pub(super) fn damages(
        &mut self,
        from: u32,
        to: u32,
        class: Option<PacketClass>,
        bytes: u32,
        (start, end): (Instant, Instant),
    ) -> bool {
        let (station, direction) = if from == ACCESS_POINT {
            (to, FrameDirection::ToStation)
        } else {
            (from, FrameDirection::FromStation)
        };
        self.damage.damages(&Frame {
            station,
            direction,
            class,
            bytes,
            start,
            end,
        })
    }
}

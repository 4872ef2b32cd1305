//! From packets to frames: their sizes, and the frames that precede them.

use airtcp_units::Duration;

use super::{Bss, BssConfig, MAC_BYTES};
use crate::frame::{PacketClass, PendingPacket};
use crate::mac::fragmentation::Fragments;
use crate::mac::way::Way;

impl BssConfig {
    /// Size of a packet's data frame if it is not cut.
    #[inline]
    fn whole_bytes<P>(&self, waiting: &PendingPacket<P>) -> u32 {
        waiting.offer.bytes.saturating_add(self.overhead)
    }

    /// The fragmentation of a packet with a data frame of `whole` bytes, if any: each fragment has
    /// an even number of bytes of it, LLC and SNAP counted, except the last one (IEEE 802.11-2016
    /// §10.5).
    #[inline]
    fn fragments(&self, whole: u32) -> Option<Fragments> {
        let threshold = self.fragmentation_threshold.filter(|most| whole > *most)?;
        Some(Fragments {
            packet: whole - MAC_BYTES,
            most: (threshold - MAC_BYTES) & !1,
        })
    }

    /// Size of the next data frame of a packet: the whole packet or one fragment.
    #[inline]
    pub(super) fn frame_bytes<P>(&self, waiting: &PendingPacket<P>) -> u32 {
        let whole = self.whole_bytes(waiting);
        match self.fragments(whole) {
            Some(cut) => MAC_BYTES + cut.next_bytes(waiting.fragments_done),
            None => whole,
        }
    }

    /// Whether the next data frame of a packet is its last.
    #[inline]
    pub(super) fn is_last_fragment<P>(&self, waiting: &PendingPacket<P>) -> bool {
        let cut = self.fragments(self.whole_bytes(waiting));
        cut.is_none_or(|cut| cut.is_last(waiting.fragments_done))
    }

    /// Whether a frame of this many bytes is preceded by RTS and CTS.
    #[inline]
    pub(super) fn is_above_rts_threshold(&self, bytes: u32) -> bool {
        self.rts_threshold
            .is_some_and(|threshold| bytes > threshold)
    }
}

/// A station's next frame, without its packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextFrame {
    pub(super) to: u32,
    pub(super) flow: u32,
    pub(super) class: PacketClass,
    pub(super) bytes: u32,
    /// The number of the attempt to send the packet.
    pub(super) attempt: u32,
    /// Whether RTS and CTS precede it, unless it continues a burst.
    pub(super) is_to_be_cleared: bool,
}

impl<P: Copy> Bss<P> {
    /// The next frame of the packet that a station has chosen.
    #[inline]
    pub(super) fn next_frame(&mut self, station: u32) -> Option<NextFrame> {
        let station = &mut self.stations[station as usize];
        let rts_failures = station.all_rts_failures;
        let waiting = station.queue.current()?;
        let bytes = self.config.frame_bytes(waiting);
        Some(NextFrame {
            to: waiting.to,
            flow: waiting.offer.flow,
            class: waiting.offer.class,
            bytes,
            attempt: waiting.failures + rts_failures + 1,
            is_to_be_cleared: self.config.is_above_rts_threshold(bytes),
        })
    }

    /// Airtime of a data frame: in the mode of the mobile at either end.
    #[inline]
    pub(super) fn data_time(&mut self, from: u32, to: u32, bytes: u32) -> Duration {
        let way = Way::between(from, to);
        let mode = self.config.data_mode(way.mobile);
        let recent = &mut self.recent_times[way.direction as usize];
        if (recent.0, recent.1) != (mode, bytes) {
            *recent = (mode, bytes, self.config.phy.data_time_in(mode, bytes));
        }
        recent.2
    }
}

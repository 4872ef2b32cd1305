//! From packets to frames: how large they are, and what precedes them.

use super::{ACCESS_POINT, Bss, BssConfig, MAC_BYTES};
use crate::frame::PacketClass;
use crate::frame::PendingPacket;
use crate::mac::damage::{Frame, FrameDirection};
use airtcp_units::{Duration, Instant};

/// Share of a packet in a fragment, LLC and SNAP counted: an even number of bytes, but for the
/// last one (IEEE 802.11-2016 §10.5).
const fn fragment_payload(threshold: u32) -> u32 {
    (threshold - MAC_BYTES) & !1
}

impl BssConfig {
    /// Size of the next data frame of a packet: the whole packet or one fragment.
    #[inline]
    pub(super) fn frame_bytes<P>(&self, waiting: &PendingPacket<P>) -> u32 {
        let whole = waiting.offer.bytes.saturating_add(self.overhead);
        match self.fragmentation_threshold {
            Some(threshold) if whole > threshold => {
                let done = waiting.fragments_done * fragment_payload(threshold);
                let left = (whole - MAC_BYTES).saturating_sub(done);
                MAC_BYTES + left.min(fragment_payload(threshold))
            }
            _ => whole,
        }
    }

    /// Whether the next data frame of a packet is its last.
    #[inline]
    pub(super) fn is_last_fragment<P>(&self, waiting: &PendingPacket<P>) -> bool {
        let whole = waiting.offer.bytes.saturating_add(self.overhead);
        match self.fragmentation_threshold {
            Some(threshold) if whole > threshold => {
                (waiting.fragments_done + 1) * fragment_payload(threshold) >= whole - MAC_BYTES
            }
            _ => true,
        }
    }

    /// Whether a frame of this many bytes is preceded by RTS and CTS.
    #[inline]
    pub(super) fn is_above_rts_threshold(&self, bytes: u32) -> bool {
        self.rts_threshold
            .is_some_and(|threshold| bytes > threshold)
    }
}

/// The frame that a station is to send next, without its packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextFrame {
    pub(super) to: u32,
    pub(super) flow: u32,
    pub(super) class: PacketClass,
    pub(super) bytes: u32,
    /// The number of the attempt to send the packet.
    pub(super) attempt: u32,
    /// Whether RTS and CTS go before it, where it does not continue a burst.
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
        let mobile = if from == ACCESS_POINT { to } else { from };
        let mode = self.config.data_mode(mobile);
        let recent = &mut self.recent_times[usize::from(from == ACCESS_POINT)];
        if (recent.0, recent.1) != (mode, bytes) {
            *recent = (mode, bytes, self.config.phy.data_time_in(mode, bytes));
        }
        recent.2
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

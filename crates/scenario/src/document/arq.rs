//! `[arq]`: a wireless link of one sender that repeats frames until they are acknowledged.

use super::wlan::Attempts;
use super::{LineDelay, LossTable, OutageTable, QueueTable, SECOND};
use airtcp_units::bounded::{Bytes, Limit, Rate, Span};
use airtcp_units::{BitRate, Duration};

keys! {
    /// A stop-and-wait link, the direction that data takes. Acknowledgments of TCP come back over a
    /// line with the same delay.
    #[derive(Clone, Default)]
    pub struct ArqTable takes {
        /// Rate of frames and of the link's acknowledgments.
        // Mahmoodi et al. §IV: 802.11a at 6 Mbit/s, frames of 320 bytes.
        rate: BitRate = BitRate::from_bps(6_000_000), as Rate;
        /// Propagation delay of a signal.
        delay: Duration = Duration::from_micros(1), as LineDelay;
        /// Bytes of a packet that a frame carries at most; larger packets are cut.
        frame: Option<u32> = Some(320), as Limit<Bytes<1, 65_535>>;
        /// Bytes that each frame adds.
        // MAC header and FCS.
        overhead: u32 = 28, as Bytes<0, 1_000>;
        /// Time to send an acknowledgment of the link.
        // SIFS and an ACK at 6 Mbit/s, and SIFS before the next frame.
        ack_time: Duration = Duration::from_micros(16 + 44 + 16), as Span<0, SECOND>;
        /// Most transmissions of a frame, the first included.
        // Three retransmissions.
        retry_limit: Option<u32> = Some(4), as Limit<Attempts>;
        /// The queue in front of the link.
        queue: QueueTable = QueueTable::default(), holding keys;
        /// Frames that the link damages: each attempt counts.
        loss: LossTable = LossTable::default(), holding keys;
        /// A link that goes away now and then: every frame is damaged meanwhile.
        outage: OutageTable, holding keys;
    }
}

//! `[selective_repeat]`: a wireless link on which frames overtake one that is retransmitted.

use super::keys::Rule;
use super::wlan::Attempts;
use super::{LineDelay, LossTable, OutageTable, QueueTable, SECOND};
use crate::error::Problem;
use crate::names::{DelayOrder, WindowCount};
use airtcp_units::bounded::{Bytes, Limit, MINUTE, Rate, Span, Whole};
use airtcp_units::{BitRate, Duration};

keys! {
    /// A selective-repeat link between one mobile, which has all flows, and an access point: frames
    /// follow one another, and damaged ones are retransmitted.
    #[derive(Clone, Default)]
    pub struct SelectiveRepeatTable under Windows takes {
        /// Rate of frames in each direction; the directions do not share it.
        rate: BitRate = BitRate::from_bps(10_000_000), as Rate;
        /// Propagation delay of a signal.
        delay: Duration = Duration::from_millis(1), as LineDelay;
        /// From a frame's last bit to its retransmission (LL_RTO), at least the round trip of a
        /// link-layer acknowledgment.
        retry_timeout: Duration = Duration::from_millis(20), as Span<0, MINUTE>;
        /// Whether the link reports `retry_timeout` to TCP at the start of a connection (Srinivasan
        /// §3.1, step 1). If not, correcting senders use their remedy's `link-rto`.
        tell_retry_timeout: bool = true;
        /// Most transmissions of a frame, the first included.
        retry_limit: Option<u32> = Some(8), as Limit<Attempts>;
        /// Frames that may be in flight.
        // A block ACK agreement's largest window (IEEE 802.11-2016 §9.4.1.14).
        window: Option<u32> = Some(64), as Limit<Whole<1, 65_536>>;
        /// Unit of the window.
        window_counts: WindowCount;
        /// Whether packets overtake one that is retransmitted, or wait for it in a reordering
        /// buffer.
        order: DelayOrder = DelayOrder::Reorder;
        /// Bytes that each frame adds.
        // Generic MAC header, fragmentation subheader, CRC (IEEE 802.16-2009 §6.3.2.1.2, §6.3.2.2).
        overhead: u32 = 6 + 2 + 4, as Bytes<0, 1_000>;
        /// Time to send an acknowledgment of the link.
        ack_time: Duration = Duration::from_micros(100), as Span<0, SECOND>;
        /// The queues at the mobile and at the access point.
        queue: QueueTable = QueueTable::default(), holding keys;
        /// Frames that the link damages: each attempt counts.
        loss: LossTable = LossTable::default().with_direction(), holding keys;
        /// A link that goes away now and then: every frame is damaged meanwhile.
        outage: OutageTable, holding keys;
    }
}

/// Only a limited window counts something, and the loss has a direction.
pub struct Windows;

impl Rule<SelectiveRepeatTable> for Windows {
    fn completed(table: &SelectiveRepeatTable) -> SelectiveRepeatTable {
        let is_limited = table.window().is_some();
        SelectiveRepeatTable {
            window_counts: match table.window_counts {
                None if is_limited => Some(WindowCount::default()),
                given => given,
            },
            loss: table.loss.map(LossTable::with_direction),
            ..table.clone()
        }
    }

    fn check(table: &SelectiveRepeatTable, path: &str) -> Result<(), Problem> {
        if table.window().is_none() {
            let why = "selective_repeat.window = \"unlimited\" counts nothing; remove one of them";
            refuse_keys!(table, path, why; window_counts);
        }
        Ok(())
    }
}

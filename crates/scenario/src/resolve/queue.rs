//! `queue` of every link: the packets and bytes that may wait.

use airtcp_link::QueueLimit;
use airtcp_units::ByteCount;

use crate::document::{QueueTable, USUAL_QUEUE};

/// The limit of a queue.
pub(super) fn queue(table: QueueTable) -> QueueLimit {
    match (table.packets, table.bytes) {
        (Some(packets), Some(bytes)) => QueueLimit::Both {
            packets: packets.get_u32(),
            bytes: ByteCount::as_bytes(bytes.get()),
        },
        (None, Some(bytes)) => QueueLimit::Bytes(ByteCount::as_bytes(bytes.get())),
        (Some(packets), None) => QueueLimit::Packets(packets.get_u32()),
        (None, None) => QueueLimit::Packets(USUAL_QUEUE as u32),
    }
}

//! The fate of a packet on a medium.

/// The outcome of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<P> {
    /// It arrived at station `to`. Reported once for a packet, also if its acknowledgment was lost
    /// and it is retransmitted.
    Delivered {
        /// The packet.
        packet: P,
        /// The station it came from.
        from: u32,
        /// The station it arrived at.
        to: u32,
        /// Transmissions until then, all its fragments together less their number, plus 1:
        /// 1 when nothing had to be retransmitted.
        attempts: u32,
    },
    /// Its sender has the link's acknowledgment. Only reported by links on which that takes time,
    /// after [`Delivered`](Self::Delivered) or, with a reordering buffer, before it; on the others
    /// the sender knows when the packet arrives, or immediately after.
    Acknowledged {
        /// The packet.
        packet: P,
        /// The station that sent it.
        from: u32,
        /// The station it was addressed to.
        to: u32,
        /// Transmissions, counted as above.
        attempts: u32,
    },
    /// An attempt failed, and the packet will be retransmitted.
    Retried {
        /// The packet.
        packet: P,
        /// The station that sends it.
        from: u32,
        /// The station it is addressed to.
        to: u32,
        /// Number of transmissions, counted as above.
        attempts: u32,
    },
    /// Its sender gave it up.
    Discarded {
        /// The packet.
        packet: P,
        /// The station that sent it.
        from: u32,
        /// The station it was addressed to.
        to: u32,
        /// Transmissions, counted as above; 0 if it never was.
        attempts: u32,
        /// Whether it had arrived all the same: only acknowledgments were lost.
        arrived: bool,
    },
    /// A queue's discipline dropped it before its first transmission.
    Dropped {
        /// The packet.
        packet: P,
    },
}

//! The traffic carried by a link.

/// Traffic so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct CarriedTraffic {
    /// Packets that entered the link, from stations and from the server.
    pub taken: [u64; 2],
    /// Packets that left it, to the server and to stations.
    pub delivered: [u64; 2],
    /// Bytes that left it, to the server and to stations.
    pub delivered_bytes: [u64; 2],
    /// Packets with bytes overwritten by later ones when they left.
    pub outlived: u64,
    /// Packets refused by the kernel's queue.
    pub refused: u64,
    /// Packets lost by the link.
    pub lost: u64,
    /// Packets dropped by the link's queues.
    pub dropped: u64,
}

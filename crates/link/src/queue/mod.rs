//! Where packets wait for the link.

pub mod drop_tail;

/// How much may wait. What is being served has left the queue, as in ns-2, ns-3 and mahimahi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Everything may wait.
    Unlimited,
    /// At most this many packets wait.
    Packets(u32),
    /// At most this many bytes wait.
    Bytes(u64),
}

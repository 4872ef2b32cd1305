//! The causes between which a classifier decides.

/// The cause of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A queue was full.
    Congestion,
    /// The radio damaged the packet.
    Radio,
}

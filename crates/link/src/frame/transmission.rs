//! A packet as a pipe sees it, and whether the pipe takes it.

/// Facts about a packet that the link needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Size on the link, headers included.
    pub bytes: u32,
    /// Its flow; flows are numbered from zero without gaps.
    pub flow: u32,
    /// Packets that this flow has handed to this direction before: 0, 1, 2, ...;
    /// [`Self::UNNUMBERED`] of one that is not counted.
    pub index: u64,
}

impl Transmission {
    /// The index of a packet that takes no number, and so no other packet's draw. Error models
    /// neither lose it nor advance by it, and no list of lost packets names it.
    pub const UNNUMBERED: u64 = u64::MAX;
}

/// Outcome of handing a packet to a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It will arrive, unless the queue's discipline has it
    /// [discarded](crate::Pipe::take_discarded).
    Queued,
    /// The queue had no room, its discipline drops it, or the policer in front lacks tokens; it
    /// takes no time on the link.
    Overflow,
    /// It takes its turn on the link, but is damaged and never arrives.
    Lost,
}

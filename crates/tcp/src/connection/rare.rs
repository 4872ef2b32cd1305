//! State that few connections ever need, or need only while they end: boxed, so that very many
//! connections without it fit in memory.

use airtcp_packet::Segment;

use super::Connection;
use super::accurate_ecn::AccurateEcn;
use super::challenge::Challenges;
use super::ending::Ending;

/// The state of a connection without any of these.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare {
    pub ending: Ending,
    /// An answer to a segment that belongs to no connection, or the reset of this one.
    pub reset: Option<Segment>,
    pub challenges: Challenges,
    /// An acknowledgment of the data before the congestion mark changed.
    pub before_mark: Option<Segment>,
    pub accurate_ecn: AccurateEcn,
    /// End of the data that left in the SYN, if the peer refused it.
    pub syn_data_end: u64,
}

impl Connection {
    /// The state of the connection's end.
    #[inline]
    pub(super) fn ending(&self) -> &Ending {
        const NOTHING: &Ending = &Ending::new();
        self.rare.as_ref().map_or(NOTHING, |rare| &rare.ending)
    }

    /// The same, mutable.
    pub(super) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Whether a reset, or an acknowledgment of the data before a mark, is waiting to be sent.
    #[inline]
    pub(super) fn has_rare_segment(&self) -> bool {
        let is_waiting = |rare: &Rare| rare.reset.is_some() || rare.before_mark.is_some();
        self.rare.as_deref().is_some_and(is_waiting)
    }
}

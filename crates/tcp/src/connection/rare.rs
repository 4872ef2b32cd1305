//! State that few connections ever need, or only while they end: behind one pointer, so that very
//! many fit that do not.

use airtcp_packet::Segment;

use super::Connection;
use super::challenge::Challenges;
use super::ending::Ending;

/// Nothing of it has happened yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare {
    pub ending: Ending,
    /// An answer to a segment that belongs to no connection, or our own reset.
    pub reset: Option<Segment>,
    pub challenges: Challenges,
}

impl Connection {
    /// What is left to wait for at the end.
    #[inline]
    pub(super) fn ending(&self) -> &Ending {
        const NOTHING: &Ending = &Ending::new();
        self.rare.as_ref().map_or(NOTHING, |rare| &rare.ending)
    }

    /// The same, to be changed.
    pub(super) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Whether a reset is to leave.
    #[inline]
    pub(super) fn has_reset(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.reset.is_some())
    }
}

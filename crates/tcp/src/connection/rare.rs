//! State that few connections ever need, or need only while they end: boxed, so that very many
//! connections without it fit in memory.

use alloc::boxed::Box;

use airtcp_packet::Segment;
use airtcp_units::Instant;

use super::Connection;
use super::accurate_ecn::AccurateEcn;
use super::challenge::Challenges;
use super::ending::Ending;
use super::patience::{Effort, Patience};

/// The state of a connection without any of these.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare {
    pub ending: Ending,
    pub patience: Patience,
    pub challenges: Challenges,
    /// Boxed: most connections with this state have only answered a repeated SYN.
    waiting: Option<Box<Waiting>>,
    pub accurate_ecn: AccurateEcn,
    /// End of the data that left in the SYN, if the peer refused it.
    pub syn_data_end: u64,
}

/// Segments waiting to be sent before any other.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// An answer to a segment that belongs to no connection, or the reset of this one.
    reset: Option<Segment>,
    /// An acknowledgment of the data before the congestion mark changed.
    before_mark: Option<Segment>,
}

impl Rare {
    /// Has a reset sent: an answer to a segment that belongs to no connection, or the reset of this
    /// one.
    pub fn set_reset(&mut self, reset: Segment) {
        self.waiting.get_or_insert_default().reset = Some(reset);
    }

    /// Has an acknowledgment of the data before the congestion mark changed sent.
    pub fn set_before_mark(&mut self, acknowledgment: Segment) {
        self.waiting.get_or_insert_default().before_mark = Some(acknowledgment);
    }

    /// Whether nothing is stored but patience, and the count of marks that few agree on.
    fn had_only_patience(&self) -> bool {
        self.ending.is_nothing()
            && self.challenges.is_nothing()
            && self.waiting.is_none()
            && self.syn_data_end == 0
    }

    /// Takes the next of these segments.
    pub fn take_segment(&mut self) -> Option<Segment> {
        let waiting = self.waiting.as_mut()?;
        waiting.reset.take().or_else(|| waiting.before_mark.take())
    }
}

impl Connection {
    /// The state of the connection's end.
    #[inline]
    pub(super) fn ending(&self) -> &Ending {
        const NOTHING: &Ending = &Ending::new();
        self.rare.as_ref().map_or(NOTHING, |rare| &rare.ending)
    }

    /// The end of TIME-WAIT, of a wait for the peer's FIN or of the application's patience,
    /// whichever comes first; [`Instant::FAR_FUTURE`] without any.
    #[inline]
    pub(super) fn rare_deadline(&self) -> Instant {
        let of_each = |rare: &Rare| rare.ending.deadline.min(rare.patience.deadline());
        self.rare.as_deref().map_or(Instant::FAR_FUTURE, of_each)
    }

    /// Records an acceptable acknowledgment; whether it `advances`, and whether it `opens` a
    /// window.
    #[inline]
    pub(super) fn renew_patience(&mut self, advances: bool, opens: bool) {
        if let Some(rare) = &mut self.rare
            && rare.patience.on_acknowledgment(advances, opens)
            && rare.had_only_patience()
            && !self.ecn.is_accurate()
        {
            self.rare = None;
        }
    }

    /// Records the sender's effort at `now`. Returns whether it exceeded the limit of the
    /// connection's patience.
    #[inline]
    pub(super) fn is_patience_lost(&mut self, now: Instant, effort: Effort) -> bool {
        // Most wake-ups are due to pacing.
        if !effort.timeout && !effort.probe {
            let rare = self.rare.as_deref();
            return rare.is_some_and(|rare| rare.patience.deadline() <= now);
        }
        let limits = self.sender.config().limits;
        let is_orphan = self.ending().is_orphan;
        let patience = &mut self.rare_mut().patience;
        patience.on_effort(now, effort, &limits, is_orphan)
    }

    /// The state to be changed, created when it is first needed.
    pub(super) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Whether a reset, or an acknowledgment of the data before a mark, is waiting to be sent.
    #[inline]
    pub(super) fn has_rare_segment(&self) -> bool {
        let rare = self.rare.as_deref();
        let waiting = rare.and_then(|rare| rare.waiting.as_deref());
        waiting.is_some_and(|waiting| waiting.reset.is_some() || waiting.before_mark.is_some())
    }
}

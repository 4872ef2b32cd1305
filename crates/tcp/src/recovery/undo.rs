//! What is kept at the start of a recovery, so that it can be taken back when it turns out that
//! nothing was lost: by a timestamp older than the first retransmission (Eifel, RFC 3522), or by a
//! report of a duplicate for every retransmission (RFC 3708 §2).

use airtcp_units::{Duration, Instant};

use crate::congestion::Saved;
use crate::sender::Echo;

/// One recovery's account.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    /// First byte not acknowledged when it began; none while nothing can be taken back.
    marker: Option<u64>,
    /// The windows before it.
    saved: Option<Saved>,
    /// Segments retransmitted and not reported as duplicates; none before anything was
    /// retransmitted.
    unanswered: Option<u32>,
    /// When the first retransmission left.
    resent_at: Option<Instant>,
}

impl Undo {
    /// A recovery begins at `una`, the windows being `saved`, with `resent` retransmissions under
    /// way.
    pub fn begin(&mut self, una: u64, saved: Option<Saved>, resent: u32) {
        self.marker = Some(una);
        self.saved = saved;
        self.unanswered = (resent > 0).then_some(resent);
    }

    /// Whether there is something to take back.
    #[must_use]
    pub const fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// A segment is retransmitted.
    pub fn on_resent(&mut self, now: Instant) {
        self.resent_at.get_or_insert(now);
        self.unanswered = Some(self.unanswered.unwrap_or(0) + 1);
    }

    /// The peer reports that it received a segment twice that ends at `end`.
    pub fn on_duplicate_reported(&mut self, end: u64) {
        if let (Some(marker), Some(count)) = (self.marker, &mut self.unanswered)
            && end > marker
        {
            *count = count.saturating_sub(1);
        }
    }

    /// Every retransmission was one too many.
    #[must_use]
    pub const fn is_proved_by_duplicates(&self) -> bool {
        self.marker.is_some() && matches!(self.unanswered, Some(0))
    }

    /// What arrived was sent before the first retransmission, on a clock of ticks that long.
    #[must_use]
    pub fn is_proved_by_echo(&self, echo: Option<Echo>, tick: Duration) -> bool {
        self.marker.is_some()
            && matches!((echo, self.resent_at), (Some(echo), Some(resent_at))
                if echo.sent_at + tick <= resent_at)
    }

    /// Takes it back: the windows before, if they are known. Nothing more can be.
    pub const fn take(&mut self) -> Option<Saved> {
        self.marker = None;
        self.saved.take()
    }

    /// Nothing is retransmitted any more.
    pub const fn on_open(&mut self) {
        self.resent_at = None;
    }
}

//! Freeze-TCP (Goff, Moronski, Phatak & Gupta, INFOCOM 2000): a receiver that sees a fade coming
//! stops its peer before anything is lost.
//!
//! ```text
//!   mobile  ── ack, window 0 ──▶  sender         freeze: about a round trip before the fade (§3.1)
//!                                 persists: no data, no timeout, the window is kept
//!   mobile  ── ack, window W ──▶  sender  × 3    thaw: the signal is back (§3.2)
//! ```
//!
//! Only the mobile host changes. It shrinks its window, which RFC 9293 §3.8.6 discourages in
//! receivers and requires senders to expect. Data in flight is still accepted.

use airtcp_units::Instant;

use super::{Connection, State};

/// Copies of the last acknowledgment after a freeze: "triplicate reconnection" acknowledgments
/// (Goff et al. §3.2). The one that opens the window is among them.
const RECONNECTION_ACKS: u8 = 3;

impl Connection {
    /// Announces a zero window from now on, starting with an acknowledgment sent at once: a fade is
    /// coming. Call [`poll`](Self::poll) afterwards.
    pub fn freeze(&mut self, _now: Instant) {
        if self.frozen {
            return;
        }
        self.frozen = true;
        self.acks_out_of_turn = 0;
        if self.acknowledges() {
            self.receiver.demand_acknowledgment();
        }
    }

    /// Ends a freeze: sends the last acknowledgment three times with the true window. Does nothing
    /// unless [frozen](Self::freeze). Call [`poll`](Self::poll) afterwards.
    pub fn thaw(&mut self, _now: Instant) {
        if !self.frozen {
            return;
        }
        self.frozen = false;
        if self.acknowledges() {
            self.acks_out_of_turn = RECONNECTION_ACKS;
        }
    }

    /// Sends the last acknowledgment three times after an unforeseen outage, so that the sender
    /// learns of its losses by duplicate acknowledgments (Caceres & Iftode, JSAC 13(5), 1995, §V).
    /// Call [`poll`](Self::poll) afterwards.
    pub fn repeat_acknowledgment(&mut self) {
        if self.acknowledges() {
            self.acks_out_of_turn = RECONNECTION_ACKS;
        }
    }

    /// Whether the window announced is zero because of a [freeze](Self::freeze).
    #[must_use]
    pub const fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Whether the peer can be sent a window.
    const fn acknowledges(&self) -> bool {
        !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        )
    }
}

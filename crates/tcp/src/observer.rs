//! Events that an endpoint reports while it runs, and insight that no endpoint on a real network
//! has: an argument of the calls that may cause events, never a field, so that an unobserved run
//! pays nothing.

use core::ops::Range;

use airtcp_units::{Duration, Instant};

use crate::cause::Cause;

/// The evidence that a recovery was needless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// An echoed timestamp older than the first retransmission (RFC 3522).
    Echo,
    /// Every retransmission was reported as a duplicate (RFC 3708).
    Duplicates,
    /// After a timeout, acknowledgments of data that was not retransmitted (RFC 5682).
    NewData,
}

impl Evidence {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "an old timestamp was echoed",
            Self::Duplicates => "every retransmission was a duplicate",
            Self::NewData => "new data was acknowledged in its place",
        }
    }
}

/// An event. Offsets are positions in the byte stream that the endpoint sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The handshake is complete.
    Established,
    /// A retransmission timer expired.
    Timeout {
        /// First byte of the segment with the expired timer.
        offset: u64,
        /// Number of earlier transmissions of that segment.
        transmissions: u16,
        /// The RTO that expired, backoff included.
        rto: Duration,
    },
    /// The last timeout was unnecessary, by the endpoint's evidence (RFC 3522 §3).
    TimeoutJudgedSpurious,
    /// Fast retransmit: a loss was concluded from duplicate or selective acknowledgments.
    FastRetransmit {
        /// First byte of the segment presumed lost.
        offset: u64,
    },
    /// Everything outstanding when the loss was found is acknowledged.
    RecoveryExit,
    /// A round trip was measured.
    RttSample {
        /// The sample itself, not the average.
        rtt: Duration,
    },
    /// The peer reported a segment that it had received before (RFC 2883).
    DuplicateReported {
        /// First byte of the duplicate.
        offset: u64,
    },
    /// A recovery was needless, and is undone.
    RecoveryTakenBack {
        /// The evidence.
        evidence: Evidence,
    },
    /// A loss was classified.
    LossClassified {
        /// First byte of the segment presumed lost.
        offset: u64,
        /// The answer.
        cause: Cause,
        /// Segments found lost at once.
        lost_segments: u32,
        /// Whether the last round trip was below the mean of the classifier's samples.
        below_mean: bool,
    },
    /// A tail loss probe went out (RFC 8985 §7.3).
    TailProbe {
        /// First byte never sent, at that time.
        offset: u64,
    },
    /// A tail loss probe has repaired a loss that nothing else showed (RFC 8985 §7.4).
    LossRepairedByProbe,
    /// A zero-window probe was sent (RFC 9293 §3.8.6.1).
    WindowProbe,
    /// The window was reduced for a mark of congestion (RFC 3168 §6.1.2).
    ReducedForMark {
        /// First byte never sent, at that time.
        offset: u64,
    },
    /// The connection is closed in both directions.
    Closed,
    /// The peer, or an unanswerable segment, reset the connection.
    Reset,
    /// The connection was given up: the peer was silent for too long.
    TimedOut,
}

/// Knowledge that a simulator has and a real network lacks. Research asks for it; every default is
/// the answer of a real network: nothing.
pub trait Insight {
    /// The cause of the loss of the segment at stream `offset` (for
    /// [`Differentiation::Oracle`](crate::loss_differentiation::Differentiation::Oracle)).
    fn cause_of(&self, _offset: u64) -> Option<Cause> {
        None
    }

    /// The `index`-th draw, counted from one, uniform over all words (for
    /// [`Differentiation::Coin`](crate::loss_differentiation::Differentiation::Coin)).
    fn draw(&self, _index: u64) -> Option<u64> {
        None
    }
}

impl Insight for () {}

impl<F: FnMut(Instant, Event)> Insight for F {}

/// Bytes of a segment that were accepted into the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Offsets in the stream, not received in order before. They may include data already held
    /// after a gap: the peer has retransmitted it.
    pub range: Range<u64>,
    /// Position of the first of them in the segment's payload.
    pub skipped: usize,
}

/// Receives [`Event`]s. `()` ignores them.
pub trait Observer: Insight {
    /// Called when `event` happens at `now`.
    fn event(&mut self, now: Instant, event: Event);

    /// Called, at most once per segment, with the accepted part of its payload: a caller that keeps
    /// the bytes keeps these and no others. The payload of a forged or late segment is not among
    /// them.
    #[inline]
    fn accepted(&mut self, _accepted: Accepted) {}
}

impl Observer for () {
    #[inline]
    fn event(&mut self, _now: Instant, _event: Event) {}
}

impl<F: FnMut(Instant, Event)> Observer for F {
    #[inline]
    fn event(&mut self, now: Instant, event: Event) {
        self(now, event);
    }
}

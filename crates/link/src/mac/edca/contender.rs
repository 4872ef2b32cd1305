//! A station in one access category: its part in the contention, its queues, its agreements.

use airtcp_units::{Duration, Instant};

use super::agreement::{Agreement, Mpdu};
use super::category::{AccessCategory, AccessParameters};
use super::queueing::Backlog;
use crate::frame::{ACCESS_POINT, RetryLimit};
use crate::mac::contention::{BackOff, Contends};
use crate::mac::medium::AggregationCounters;
use crate::phy::Mode;
use crate::queue::EcnField;

/// MPDUs with a missing block ACK that is being requested.
#[derive(Clone, Debug)]
pub(super) struct Request<P> {
    /// Their destination's index.
    pub to: usize,
    pub mpdus: Vec<Mpdu<P>>,
    /// The mode in which they were sent.
    pub mode: Mode,
    /// Failed requests.
    pub failures: u32,
}

/// An MPDU in a PPDU that is being sent.
#[derive(Clone, Debug)]
pub(super) struct Sent<P> {
    pub mpdu: Mpdu<P>,
    pub is_damaged: bool,
}

/// A station in one category.
#[derive(Clone, Debug)]
pub(super) struct Contender<P> {
    pub station: u32,
    pub category: AccessCategory,
    pub access: AccessParameters,
    pub aifs: Duration,
    pub back_off: BackOff,
    pub backlog: Backlog<P>,
    /// One agreement per destination.
    pub agreements: Vec<Agreement<P>>,
    /// Packets to be retransmitted, in all agreements.
    pub retries: usize,
    /// The PPDU being sent, and its destination's index.
    pub burst: Vec<Sent<P>>,
    pub to: usize,
    /// Its mode, once it is on the air.
    pub sent_in: Option<Mode>,
    pub request: Option<Request<P>>,
    /// Consecutive failed exchanges (QSRC, IEEE 802.11-2020 §10.23.2.12).
    pub failures: u32,
    /// Latest end of the TXOP that it has won.
    pub txop_ends: Instant,
    /// Counters of each destination.
    pub counters: Vec<AggregationCounters>,
}

impl<P: Copy + EcnField> Contender<P> {
    /// An exchange failed: the window doubles, or is reset after as many failures as the retry
    /// limit (§10.23.2.2).
    pub(super) fn widen(&mut self, limit: RetryLimit) {
        self.failures += 1;
        if limit.is_reached(self.failures) {
            self.narrow();
        } else {
            self.back_off.double_window();
        }
    }

    /// An exchange succeeded or is abandoned.
    pub(super) fn narrow(&mut self) {
        self.failures = 0;
        self.back_off.reset_window();
    }

    /// Counters of the current destination.
    #[inline]
    pub(super) fn own_counters(&mut self) -> &mut AggregationCounters {
        &mut self.counters[self.to]
    }

    /// The station at an index among the destinations.
    #[inline]
    pub(super) const fn station_at(&self, place: usize) -> u32 {
        if self.station == ACCESS_POINT {
            place as u32 + 1
        } else {
            ACCESS_POINT
        }
    }
}

impl<P: Copy + EcnField> Contends for Contender<P> {
    const ENDS_AT_ZERO: bool = true;

    #[inline]
    fn back_off(&self) -> &BackOff {
        &self.back_off
    }

    #[inline]
    fn back_off_mut(&mut self) -> &mut BackOff {
        &mut self.back_off
    }

    #[inline]
    fn has_work(&self) -> bool {
        self.retries > 0
            || self.request.is_some()
            || !self.burst.is_empty()
            || !self.backlog.is_empty()
    }
}

//! The interface of every medium: it takes packets, returns its next wake-up, and reports the fate
//! of each packet.

use airtcp_units::{Duration, Instant};

use crate::frame::{ChannelObserver, Offer, Outcome};
use crate::phy::Mode;

/// A channel that stations share, or a link that retransmits, which carries packets of type `P`. A
/// network drives it through these methods; a new medium implements them and is a row there.
pub trait Medium<P> {
    /// Hands `packet` to station `from`, for station `to`, at `now`, which may not lie before the
    /// `now` of an earlier call; `false` when there is no room.
    fn push(
        &mut self,
        now: Instant,
        way: (u32, u32),
        offer: Offer,
        packet: P,
        observer: &mut impl ChannelObserver,
    ) -> bool;

    /// Time of the next call of [`on_wakeup`](Self::on_wakeup); [`Instant::FAR_FUTURE`] for never.
    fn next_wakeup(&self) -> Instant;

    /// Handles events due by `now`. [`poll`](Self::poll) is called afterwards.
    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver);

    /// The next outcome; called until it returns `None`.
    fn poll(&mut self) -> Option<Outcome<P>>;

    /// Packets queued at a station; at a base station with a queue per mobile, the packets for
    /// `mobile`.
    fn queued_packets(&self, station: u32, mobile: u32) -> usize;

    /// Packets queued at a station for another attempt after `retransmitted` failed
    /// retransmissions, if the order distinguishes them.
    fn retries(&self, _station: u32, _retransmitted: usize) -> usize {
        0
    }

    /// Aggregation state from one station to another, on a medium that aggregates frames.
    fn aggregation(&self, _from: u32, _to: u32) -> Option<AggregationView> {
        None
    }

    /// Signal-to-noise ratio between a station and the access point, if a radio is modelled.
    fn snr_db(&self, _station: u32, _now: Instant) -> Option<f64> {
        None
    }

    /// Whether it reports when a sender receives an acknowledgment ([`Outcome::Acknowledged`]).
    fn tells_of_acknowledgments(&self) -> bool {
        false
    }

    /// Acknowledgments are not needed: it need not report them ([`Outcome::Acknowledged`]).
    fn mute_acknowledgments(&mut self) {}

    /// The retransmission timeout, if it is fixed.
    fn retry_timeout(&self) -> Option<Duration> {
        None
    }
}

/// Counters of frames that are aggregated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AggregationCounters {
    /// Contentions won, with a PPDU or an RTS.
    pub attempts: u64,
    /// Of these, collisions.
    pub collisions: u64,
    /// PPDUs with data.
    pub ppdus: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// Of these, MPDUs damaged by the radio.
    pub damaged: u64,
    /// Packets that were acknowledged.
    pub acknowledged: u64,
    /// Packets that were discarded.
    pub discarded: u64,
    /// Time from the start of its exchanges to their end, in which it kept the channel.
    pub airtime: Duration,
}

impl std::ops::AddAssign for AggregationCounters {
    fn add_assign(&mut self, other: Self) {
        self.attempts += other.attempts;
        self.collisions += other.collisions;
        self.ppdus += other.ppdus;
        self.mpdus += other.mpdus;
        self.damaged += other.damaged;
        self.acknowledged += other.acknowledged;
        self.discarded += other.discarded;
        self.airtime += other.airtime;
    }
}

/// Aggregation state from one station to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AggregationView {
    /// Counters since the start.
    pub counters: AggregationCounters,
    /// Block ACK numbers in use: from the oldest missing MPDU to the last.
    pub window: usize,
    /// The best mode by its rate control.
    pub mode: Option<Mode>,
    /// The rate control's estimate that an MPDU in that mode is acknowledged, if it has one.
    pub success: Option<f64>,
}

//! The interface of every medium: it takes packets, says when it wants to be woken, and reports the
//! fate of each packet.

use airtcp_units::{Duration, Instant};

use crate::frame::{ChannelObserver, Offer, Outcome};
use crate::phy::Mode;

/// A channel that stations share, or a link that retransmits, which carries packets of type `P`.
/// A network drives it through these; a new medium implements them and is a row there.
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

    /// When [`on_wakeup`](Self::on_wakeup) wants to be called; [`Instant::FAR_FUTURE`] for never.
    fn next_wakeup(&self) -> Instant;

    /// Acts on what is due by `now`. [`poll`](Self::poll) is called afterwards.
    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver);

    /// The next outcome; called until it returns `None`.
    fn poll(&mut self) -> Option<Outcome<P>>;

    /// Packets that wait at a station; at a base station with a queue for each mobile, those for
    /// `mobile`.
    fn queued_packets(&self, station: u32, mobile: u32) -> usize;

    /// Packets that wait at a station for another attempt after having been retransmitted without
    /// success that many times, where an order tells them apart.
    fn retries(&self, _station: u32, _retransmitted: usize) -> usize {
        0
    }

    /// What a station sends to another, on a medium that aggregates frames.
    fn aggregation(&self, _from: u32, _to: u32) -> Option<AggregationView> {
        None
    }

    /// Signal-to-noise ratio between a station and the access point, where a radio is modelled.
    fn snr_db(&self, _station: u32, _now: Instant) -> Option<f64> {
        None
    }

    /// Whether it says when a sender has its acknowledgment ([`Outcome::Acknowledged`]).
    fn tells_of_acknowledgments(&self) -> bool {
        false
    }

    /// Nobody waits for acknowledgments: it need not report them ([`Outcome::Acknowledged`]).
    fn mute_acknowledgments(&mut self) {}

    /// After how long it retransmits, where that is a fixed time.
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
    /// Of these, those that the radio damaged.
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

/// What a station sends to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AggregationView {
    /// Counters since the start.
    pub counters: AggregationCounters,
    /// Block ACK numbers in use: from the oldest missing MPDU to the last.
    pub window: usize,
    /// The mode that its rate control takes for best.
    pub mode: Option<Mode>,
    /// The rate control's estimate that an MPDU in that mode is acknowledged, where it makes one.
    pub success: Option<f64>,
}

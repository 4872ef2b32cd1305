//! IEEE 802.11 DCF: mobiles and an access point that share one channel, listening before they talk
//! (IEEE 802.11-2016 §10.3).
//!
//! ```text
//!           DIFS  back-off          SIFS      DIFS  back-off
//!   A ─────┼────┼─┬─┬─┬─┤ data ├────┤    ├───┼────┼─┬─┬─┬─┬─┬─ …
//!   AP ─────────────────┤      ├────┤ACK ├───┼────┼─
//!   B ─────┼────┼─┬─┬─┬─┤ frozen        ├────┼────┼─┬─┬─┤ data ├─
//! ```
//!
//! All stations are in range of each other. Frames that start at the same instant collide, and
//! nothing is received. The set wakes twice for an exchange: when a frame starts, and when its last
//! bit has been received; until the next one starts nothing happens that is not known then.

mod config;
mod exchange;
mod framing;
mod outcome;
mod station;

use airtcp_units::{Duration, Instant};

use super::contention::{BackOff, Contention, Heard};
use super::damage::Damage;
use super::exchange::Pauses;
use super::outcomes::Outcomes;
use crate::frame::{ACCESS_POINT, ChannelObserver, Offer, Outcome};
use crate::mac::Medium;
use crate::phy::Mode;
use crate::random::Stream;
pub use config::{BssConfig, BssError, LLC_BYTES, MAC_BYTES, StationConfig};
use exchange::Exchange;
use station::Station;
pub use station::StationCounters;

/// Durations of control frames.
#[derive(Clone, Copy, Debug)]
struct ControlTimes {
    ack: Duration,
    rts: Duration,
    cts: Duration,
}

/// A station that sends, and the last bit of its frame when it collides.
#[derive(Clone, Copy, Debug)]
struct Sender {
    station: u32,
    ends: Instant,
}

/// A basic service set that carries packets of type `P`.
#[derive(Clone, Debug)]
pub struct Bss<P> {
    config: BssConfig,
    pauses: Pauses,
    difs: Duration,
    control_times: ControlTimes,
    /// The last data frame's mode, size and duration, from mobiles and to them: nearly all frames
    /// of a direction are alike, and a duration is a division.
    recent_times: [(Mode, u32, Duration); 2],
    stations: Vec<Station<P>>,
    contention: Contention,
    damage: Damage,
    /// Time from which a station without a pending back-off may send: the medium has been idle for
    /// DIFS or EIFS by then.
    free_from: Instant,
    /// The exchange in progress.
    exchange: Option<Exchange>,
    /// Stations that take part in it.
    senders: Vec<Sender>,
    /// Start of the next frame unless another station joins; during an exchange, its end.
    wakeup: Instant,
    outcomes: Outcomes<P>,
}

impl<P: Copy> Bss<P> {
    /// An idle set with empty queues. Draws come from `stream`.
    ///
    /// # Errors
    /// An invalid configuration; see [`BssError`].
    pub fn new(config: &BssConfig, stream: Stream) -> Result<Self, BssError> {
        config.check()?;
        let draws = stream.substream(0);
        let stations = (0..=config.stations)
            .map(|index| {
                let own = if index == ACCESS_POINT {
                    config.access_point
                } else {
                    config.mobile
                };
                Station::new(own, config.windows(), draws.substream(u64::from(index)))
            })
            .collect();
        let phy = &config.phy;
        Ok(Self {
            pauses: Pauses::new(phy, config.answer_timeout),
            difs: phy.difs(),
            control_times: ControlTimes {
                ack: phy.ack_time(),
                rts: phy.rts_time(),
                cts: phy.cts_time(),
            },
            recent_times: [(Mode::DSSS_1, u32::MAX, Duration::ZERO); 2],
            stations,
            contention: Contention::new(phy.slot(), config.stations as usize + 1),
            damage: Damage::new(&config.damage, config.stations + 1, stream.substream(1)),
            free_from: Instant::ZERO + phy.difs(),
            exchange: None,
            senders: Vec::with_capacity(config.stations as usize + 1),
            wakeup: Instant::FAR_FUTURE,
            outcomes: Outcomes::new(config.report_retries),
            config: config.clone(),
        })
    }

    /// Counters of a station.
    #[must_use]
    pub fn counters(&self, station: u32) -> StationCounters {
        self.stations
            .get(station as usize)
            .map_or_else(StationCounters::default, |station| station.counters)
    }

    /// A station becomes backlogged. It sends immediately if the medium has been idle for DIFS or
    /// EIFS (IEEE 802.11-2016 §10.3.4.2).
    #[inline]
    fn contend(&mut self, now: Instant, index: u32) {
        let is_sending = self.exchange.is_some();
        let heard = Heard {
            now,
            is_sending,
            is_busy: is_sending || now < self.free_from,
            first_slot: self.free_from,
        };
        let start = |own: &mut BackOff| own.take_now(now);
        let starts = self
            .contention
            .enter(&mut self.stations, index, &heard, start);
        self.wakeup = self.wakeup.min(starts);
    }
}

impl<P: Copy> Medium<P> for Bss<P> {
    #[inline]
    fn push(
        &mut self,
        now: Instant,
        (from, to): (u32, u32),
        offer: Offer,
        packet: P,
        _observer: &mut impl ChannelObserver,
    ) -> bool {
        debug_assert!(from != to);
        let station = &mut self.stations[from as usize];
        let was_idle = station.queue.is_empty();
        if !station.queue.push(to, offer, packet) {
            return false;
        }
        if was_idle {
            station.queue.select(now);
            self.contend(now, from);
        }
        true
    }

    #[inline]
    fn next_wakeup(&self) -> Instant {
        self.wakeup
    }

    #[inline]
    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        if now < self.wakeup {
            return;
        }
        match self.exchange.take() {
            Some(exchange) => self.end_exchange(exchange, observer),
            None => self.begin_exchange(now, observer),
        }
    }

    #[inline]
    fn poll(&mut self) -> Option<Outcome<P>> {
        self.outcomes.take()
    }

    /// The packet being sent is not counted.
    fn queued_packets(&self, station: u32, _mobile: u32) -> usize {
        let own = self.stations.get(station as usize);
        own.map_or(0, |own| own.queue.len())
    }

    fn retries(&self, station: u32, retransmitted: usize) -> usize {
        let own = self.stations.get(station as usize);
        own.map_or(0, |own| own.queue.retries(retransmitted))
    }

    fn snr_db(&self, station: u32, now: Instant) -> Option<f64> {
        self.damage.snr_db(station, now)
    }
}

#[cfg(test)]
mod tests;

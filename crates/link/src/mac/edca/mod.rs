//! IEEE 802.11n, ac and ax: stations that contend by access category, aggregate frames and
//! acknowledge them in blocks (IEEE 802.11-2020 §10.12, §10.23, §10.25).
//!
//! ```text
//!           AIFS  back-off                  SIFS            AIFS  back-off
//!   A ─────┼────┼─┬─┬─┬─┤ 1 │ 2 ✗ │ 3 │ 4 ├────┤          ├────┼─┬─┬─┤ 2 │ 5 │ 6 │ …
//!   AP ─────────────────┤                 ├────┤ 1 . 3 4  ├────┼─
//!   B ─────┼────┼─┬─┬─┬─┤ frozen               block ACK  ├────┼─┬─┬─┬─┬─ …
//! ```
//!
//! All stations are in range of each other. An exchange carries a burst of MPDUs, each with a
//! separate fate; failed MPDUs go first into the next one. The receiver delivers packets in order:
//! damage by the radio is delay to TCP, neither loss nor reordering. The set wakes twice for an
//! exchange, when a PPDU starts and when its last bit has been received, however many MPDUs are in
//! it.
//!
//! Stations of 802.11b, g and a may be among them: they contend as in DCF, and receive and send one
//! frame at a time. Frames that they do not understand are protected by CTS-to-self or by RTS and
//! CTS.
//!
//! Not modelled: OFDMA, MU-MIMO, multi-link, spatial reuse, power save, hidden stations, capture.

mod aggregation;
mod agreement;
mod arrivals;
pub mod category;
pub mod config;
mod contender;
mod exchange;
mod outcome;
mod peer;
mod protection;
pub mod queueing;
mod rates;

use airtcp_units::{Duration, Instant};

use crate::frame::{ACCESS_POINT, ChannelObserver, Offer, Outcome};
use crate::mac::contention::{BackOff, Contends, Contention, Heard};
use crate::mac::damage::Damage;
use crate::mac::exchange::{Pauses, Quiet};
use crate::mac::medium::{AggregationCounters, AggregationView, Medium};
use crate::mac::outcomes::Outcomes;
use crate::mac::way::Way;
use crate::phy::control::ControlFrame;
use crate::phy::{Airtime, BasicRates, Family, Mode};
use crate::queue::EcnField;
use crate::random::Stream;
use aggregation::ByteLimits;
use agreement::Agreement;
use arrivals::Arrivals;
pub use category::{AccessCategory, AccessParameters};
pub use config::{AmpduLimits, BlockAckConfig, EdcaConfig, EdcaError, QOS_OVERHEAD};
use contender::Contender;
use exchange::Exchange;
pub use protection::Protection;
use queueing::{Backlog, Waiting, place_of};
pub use queueing::{Queueing, QueueingConfig};
use rates::Rates;

/// Maximum durations of control frames, at the lowest rate, for which a TXOP leaves room.
#[derive(Clone, Copy, Debug)]
struct Longest {
    /// A block ACK.
    answer: Duration,
    /// RTS and CTS, each with the following SIFS.
    clearance: Duration,
}

/// A contender that sends.
#[derive(Clone, Copy, Debug)]
struct Sender {
    contender: u32,
    station: u32,
    /// The last bit of its frame when it collides.
    ends: Instant,
    /// The medium after the exchange, as its station senses it.
    quiet: Quiet,
    /// Whether its frame collided, and it has given up on the answer while a longer one is on the
    /// air.
    has_given_up: bool,
}

/// A basic service set that aggregates, and carries packets of type `P`.
#[derive(Clone, Debug)]
pub struct Edca<P> {
    config: EdcaConfig,
    pauses: Pauses,
    longest: Longest,
    /// The oldest family among the stations: newer frames are protected, if anything is.
    oldest: Family,
    /// Categories in use, least urgent first, and the index among them for each flow, cyclically.
    ranks: usize,
    rank_of_flow: Vec<usize>,
    /// The stations, the access point first, each in all categories in use.
    contenders: Vec<Contender<P>>,
    rates: Rates,
    limits: ByteLimits,
    contention: Contention,
    damage: Damage,
    /// The medium as sensed by stations outside the last exchange.
    quiet: Quiet,
    /// The exchange in progress.
    exchange: Option<Exchange>,
    /// Contenders that take part in it, or in the last one.
    senders: Vec<Sender>,
    /// Start of the next frame unless another contender joins; during a PPDU, its end.
    wakeup: Instant,
    /// A mode, and that of an answer to it.
    answer_mode: (Mode, Mode),
    /// Durations of PPDUs in one mode: the last in which an aggregate was received MPDU by MPDU.
    airtime: Airtime,
    /// Contenders and indices of agreements with packets held at the receiver, and the time at
    /// which the first of them gives up missing MPDUs.
    holding: Vec<(u32, usize)>,
    reorder_wakeup: Instant,
    /// The MPDUs of the PPDU on the air, if each is delivered at its last bit.
    arriving: Option<Arrivals>,
    /// The station that answers a single frame that has ended, and the start of its answer.
    answering: Option<(u32, Instant)>,
    outcomes: Outcomes<P>,
}

impl<P: Copy + EcnField> Edca<P> {
    /// An idle set with empty queues. Draws come from `stream`.
    ///
    /// # Errors
    /// An invalid configuration; see [`EdcaError`].
    pub fn new(config: &EdcaConfig, stream: Stream) -> Result<Self, EdcaError> {
        config.check()?;
        let mut used: Vec<AccessCategory> = config.categories.clone();
        used.sort_unstable();
        used.dedup();
        let rank = |category: &AccessCategory| used.binary_search(category).unwrap_or(0);
        let rates = Rates::new(config, stream.substream(2));
        let draws = stream.substream(0);
        let contender = |station: u32, category: AccessCategory| {
            let (access, count) = config.access_of(station, category);
            let own = draws.substream(u64::from(station) * 4 + category as u64);
            let (queueing, others) = if station == ACCESS_POINT {
                (config.access_point, 1..=config.stations)
            } else {
                (config.mobile, ACCESS_POINT..=ACCESS_POINT)
            };
            let rate = |to| rates.best(Way::between(station, to)).bit_rate();
            let rates: Vec<_> = others.map(rate).collect();
            let destinations = rates.len();
            Contender {
                station,
                category,
                access,
                aifs: config.phy.aifs(access.aifsn),
                back_off: BackOff::new(access.windows(), count, own),
                backlog: Backlog::new(queueing, rates, own.substream(0)),
                agreements: (0..destinations)
                    .map(|place| {
                        let mobile = match station {
                            ACCESS_POINT => place as u32 + 1,
                            mobile => mobile,
                        };
                        Agreement::new(config.frame_limits(mobile))
                    })
                    .collect(),
                retries: 0,
                burst: Vec::new(),
                to: 0,
                sent_in: None,
                request: None,
                failures: 0,
                txop_ends: Instant::ZERO,
                counters: vec![AggregationCounters::default(); destinations],
            }
        };
        let phy = &config.phy;
        let slowest = BasicRates::OFDM.lowest().unwrap_or(Mode::OFDM_6);
        let window = config.block_ack.window;
        Ok(Self {
            pauses: Pauses::new(phy, config.answer_timeout),
            longest: Longest {
                answer: phy.control_time(ControlFrame::BlockAck { window }, slowest),
                clearance: phy.control_time(ControlFrame::Rts, slowest)
                    + phy.control_time(ControlFrame::Cts, slowest)
                    + phy.sifs() * 2,
            },
            oldest: config.oldest(),
            ranks: used.len(),
            rank_of_flow: config.categories.iter().map(rank).collect(),
            contenders: (0..=config.stations)
                .flat_map(|station| used.iter().map(move |&category| (station, category)))
                .map(|(station, category)| contender(station, category))
                .collect(),
            limits: ByteLimits::default(),
            contention: Contention::new(phy.slot(), (config.stations as usize + 1) * used.len()),
            damage: Damage::new(&config.damage, config.stations + 1, stream.substream(1)),
            quiet: Quiet::from(Instant::ZERO),
            exchange: None,
            senders: Vec::new(),
            wakeup: Instant::FAR_FUTURE,
            answer_mode: (phy.data_mode(), phy.answer_mode(phy.data_mode())),
            airtime: phy.airtime(phy.data_mode()),
            holding: Vec::new(),
            reorder_wakeup: Instant::FAR_FUTURE,
            arriving: None,
            answering: None,
            outcomes: Outcomes::new(config.report_retries),
            rates,
            config: config.clone(),
        })
    }

    /// Counters of a station in one category; zeros for a category that is not in use.
    #[must_use]
    pub fn counters(&self, station: u32, category: AccessCategory) -> AggregationCounters {
        let mut sum = AggregationCounters::default();
        let own = self.of_station(station);
        for own in own.filter(|own| own.category == category) {
            own.counters.iter().for_each(|counters| sum += *counters);
        }
        sum
    }

    /// A station in all categories in use.
    fn of_station(&self, station: u32) -> impl Iterator<Item = &Contender<P>> {
        let first = station as usize * self.ranks;
        self.contenders.iter().skip(first).take(self.ranks)
    }

    /// A contender becomes backlogged.
    ///
    /// It sends at the next slot boundary after AIFS if the medium is idle (IEEE 802.11-2020
    /// §10.23.2.2, §10.23.2.4). For the station about to answer a frame it is idle: its NAV is not
    /// set, and no station sends. That matters for its response to a single frame. The first frame
    /// of an aggregate is received while the others are on the air, and finds the medium busy, also
    /// if all are delivered at its end.
    fn contend(&mut self, now: Instant, index: u32) {
        let is_sending = self.exchange.is_some();
        let Contender { station, aifs, .. } = self.contenders[index as usize];
        let quiet = self.quiet_of(station);
        let answers = (self.answering).is_some_and(|(own, starts)| own == station && now <= starts);
        let heard = Heard {
            now,
            is_sending,
            is_busy: !answers && (is_sending || now <= quiet.busy_until),
            first_slot: quiet.idle_from + aifs,
        };
        let slot = self.contention.slot();
        let start = |own: &mut BackOff| own.take_next_slot(now, heard.first_slot, slot);
        let starts = self
            .contention
            .enter(&mut self.contenders, index, &heard, start);
        self.wakeup = self.wakeup.min(starts);
    }

    /// The medium as a station senses it while no frame is being sent.
    fn quiet_of(&self, station: u32) -> Quiet {
        let own = self.senders.iter().find(|own| own.station == station);
        own.map_or(self.quiet, |own| own.quiet)
    }

    /// Receivers give up MPDUs that have been missing for too long.
    fn time_out_reordering(&mut self, now: Instant) {
        for (index, place) in self.holding.clone() {
            self.hand_on(now, index, place);
        }
    }

    /// Reports packets that a discipline dropped.
    fn take_dropped(&mut self, index: u32) {
        while let Some(packet) = self.contenders[index as usize].backlog.take_dropped() {
            self.outcomes.dropped(packet);
        }
    }
}

impl<P: Copy + EcnField> Medium<P> for Edca<P> {
    fn push(
        &mut self,
        now: Instant,
        (from, to): (u32, u32),
        offer: Offer,
        packet: P,
        _observer: &mut impl ChannelObserver,
    ) -> bool {
        debug_assert!((from == ACCESS_POINT) != (to == ACCESS_POINT));
        let rank = self.rank_of_flow[offer.flow as usize % self.rank_of_flow.len()];
        let index = from as usize * self.ranks + rank;
        self.give_up_early(now, index as u32);
        let own = &mut self.contenders[index];
        let was_idle = !own.has_work();
        let waiting = Waiting {
            packet,
            class: offer.class,
            flow: offer.flow,
            bytes: offer.bytes,
            to,
        };
        if !own.backlog.push(now, place_of(to), waiting) {
            return false;
        }
        if was_idle && own.has_work() {
            self.contend(now, index as u32);
        }
        self.take_dropped(index as u32);
        true
    }

    #[inline]
    fn next_wakeup(&self) -> Instant {
        let next = self.wakeup.min(self.reorder_wakeup);
        self.arriving
            .map_or(next, |arrivals| next.min(arrivals.next().0))
    }

    fn on_wakeup(&mut self, now: Instant, observer: &mut impl ChannelObserver) {
        if self.reorder_wakeup <= now {
            self.time_out_reordering(now);
        }
        while self
            .arriving
            .is_some_and(|arrivals| arrivals.next().0 <= now)
        {
            self.receive_next();
        }
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

    /// Retransmissions are counted too.
    fn queued_packets(&self, station: u32, _mobile: u32) -> usize {
        let all = self.of_station(station);
        all.map(|own| own.backlog.packets() + own.retries).sum()
    }

    fn snr_db(&self, station: u32, now: Instant) -> Option<f64> {
        self.damage.snr_db(station, now)
    }

    /// In all categories.
    fn aggregation(&self, from: u32, to: u32) -> Option<AggregationView> {
        let place = place_of(to);
        let control = self.rates.of(Way::between(from, to));
        let mut view = AggregationView {
            mode: Some(control.best()),
            success: control.success(),
            ..AggregationView::default()
        };
        for own in self.of_station(from) {
            if let (Some(counters), Some(agreement)) =
                (own.counters.get(place), own.agreements.get(place))
            {
                view.counters += *counters;
                view.window = view.window.max(agreement.span());
            }
        }
        Some(view)
    }

    fn tells_of_acknowledgments(&self) -> bool {
        true
    }

    fn mute_acknowledgments(&mut self) {
        self.outcomes.mute_acknowledgments();
    }
}

#[cfg(test)]
mod tests;

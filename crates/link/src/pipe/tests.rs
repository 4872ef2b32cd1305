//! A pipe against a naive link that simulates every departure as an event.

use super::*;
use crate::delay::{DeliveryOrder, RecordingStart};
use crate::error::ErrorModel;
use crate::policer::PolicerConfig;
use crate::queue::{CoDelConfig, Discipline, QueueLimit};
use crate::service::Service;
use crate::trace::conditions::Conditions;
use crate::trace::rtt_log::RttSeries;
use airtcp_units::{BitRate, Duration, Probability};
use proptest::prelude::*;
use std::num::NonZeroU32;
use std::sync::Arc;

const RATE: BitRate = BitRate::from_bps(8_000_000);
const MICRO: u64 = 1_000;

/// A packet handed over `gap_us` after the one before, when that many had been asked for.
#[derive(Clone, Copy, Debug)]
struct Offer {
    gap_us: u64,
    bytes: u32,
    flow: u32,
}

fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let gap_us = prop_oneof![Just(0), 0..500_u64, 0..5000_u64];
    let bytes = prop_oneof![Just(1500_u32), Just(40), 1..1500_u32];
    let offer = (gap_us, bytes, 0..4_u32).prop_map(|(gap_us, bytes, flow)| Offer {
        gap_us,
        bytes,
        flow,
    });
    proptest::collection::vec(offer, 1..300)
}

fn limits() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        Just(QueueLimit::Unlimited),
        (0..30_u32).prop_map(QueueLimit::Packets),
        (0..30_000_u64).prop_map(QueueLimit::Bytes),
        (0..30_u32, 0..30_000_u64).prop_map(|(packets, bytes)| QueueLimit::Both { packets, bytes }),
    ]
}

/// First in, first out, one byte a microsecond, by events.
#[derive(Default)]
struct NaiveLink {
    waiting: Vec<(usize, u32)>,
    in_service: Option<(usize, u64)>,
    /// (packet, departure in ns)
    departed: Vec<(usize, u64)>,
}

impl NaiveLink {
    fn run_until(&mut self, now: u64) {
        while let Some((packet, ends)) = self.in_service
            && ends <= now
        {
            self.departed.push((packet, ends));
            self.in_service = None;
            if !self.waiting.is_empty() {
                let (next, bytes) = self.waiting.remove(0);
                self.in_service = Some((next, ends + u64::from(bytes) * MICRO));
            }
        }
    }

    fn offer(&mut self, now: u64, packet: usize, bytes: u32, limit: QueueLimit) -> bool {
        self.run_until(now);
        if self.in_service.is_none() {
            self.in_service = Some((packet, now + u64::from(bytes) * MICRO));
            return true;
        }
        let packets_fit = |limit: u32| self.waiting.len() < limit as usize;
        let bytes_fit = |limit| self.bytes() + u64::from(bytes) <= limit;
        let fits = match limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => packets_fit(limit),
            QueueLimit::Bytes(limit) => bytes_fit(limit),
            QueueLimit::Both { packets, bytes } => packets_fit(packets) && bytes_fit(bytes),
        };
        if fits {
            self.waiting.push((packet, bytes));
        }
        fits
    }

    fn bytes(&self) -> u64 {
        self.waiting
            .iter()
            .map(|(_, bytes)| u64::from(*bytes))
            .sum()
    }
}

fn config(queue: QueueLimit, error: ErrorModel, delay: Delay) -> PipeConfig {
    PipeConfig {
        policer: None,
        service: Service::Constant(RATE),
        queue,
        discipline: Discipline::DropTail,
        fec: None,
        error,
        delay,
    }
}

fn series(ms: &[u64]) -> Arc<RttSeries> {
    let rtts = ms.iter().copied().map(Duration::from_millis).collect();
    Arc::new(RttSeries::new(rtts, 0).unwrap())
}

/// Everything that a pipe does with `offers`: (packet, arrival) in order of arrival, and verdicts.
fn carry(pipe: &mut Pipe<usize>, offers: &[Offer]) -> (Vec<(usize, u64)>, Vec<Admission>) {
    let (mut arrived, mut verdicts) = (Vec::new(), Vec::new());
    let mut sent = [0_u64; 4];
    let mut now = 0;
    for (packet, offer) in offers.iter().enumerate() {
        now += offer.gap_us * MICRO;
        take_arrivals(pipe, now, &mut arrived);
        let index = sent[offer.flow as usize];
        sent[offer.flow as usize] += 1;
        let transmission = Transmission {
            bytes: offer.bytes,
            flow: offer.flow,
            index,
        };
        verdicts.push(pipe.push(Instant::from_nanos(now), transmission, packet));
    }
    take_arrivals(pipe, u64::MAX - 1, &mut arrived);
    assert_eq!(
        (pipe.in_flight(), pipe.next_wakeup()),
        (0, Instant::FAR_FUTURE)
    );
    (arrived, verdicts)
}

fn take_arrivals(pipe: &mut Pipe<usize>, until: u64, arrived: &mut Vec<(usize, u64)>) {
    while pipe.next_wakeup() <= Instant::from_nanos(until) {
        let at = pipe.next_wakeup();
        let just_before = Instant::from_nanos(at.as_nanos().saturating_sub(1));
        assert!(at == Instant::ZERO || pipe.pop(just_before).is_none());
        arrived.push((pipe.pop(at).unwrap(), at.as_nanos()));
    }
}

proptest! {
    #[test]
    fn a_pipe_is_the_link_simulated_event_by_event(
        offers in offers(), limit in limits(), delay_ms in 0..30_u64,
    ) {
        let delay = Delay::Constant(Duration::from_millis(delay_ms));
        let mut pipe = Pipe::new(config(limit, ErrorModel::None, delay), Stream::new(1, "link"));
        let mut naive = NaiveLink::default();
        let (mut now, mut accepted) = (0, 0);
        for (packet, offer) in offers.iter().enumerate() {
            now += offer.gap_us * MICRO;
            let at = Instant::from_nanos(now);
            let transmission = Transmission { bytes: offer.bytes, flow: 0, index: packet as u64 };
            let expected = if naive.offer(now, packet, offer.bytes, limit) {
                accepted += 1;
                Admission::Queued
            } else {
                Admission::Overflow
            };
            prop_assert_eq!(pipe.push(at, transmission, packet), expected);
            prop_assert_eq!(pipe.queued_packets(at), naive.waiting.len());
            prop_assert_eq!(pipe.queued_bytes(at), naive.bytes());
            prop_assert_eq!(pipe.in_flight(), accepted);
            // And at some instant before the next packet comes.
            let later = now + offer.gap_us * MICRO / 3;
            naive.run_until(later);
            prop_assert_eq!(pipe.queued_packets(Instant::from_nanos(later)), naive.waiting.len());
            now = later;
        }
        naive.run_until(u64::MAX);
        let mut arrived = Vec::new();
        take_arrivals(&mut pipe, u64::MAX - 1, &mut arrived);
        let expected: Vec<(usize, u64)> =
            naive.departed.iter().map(|&(packet, at)| (packet, at + delay_ms * 1000 * MICRO)).collect();
        prop_assert_eq!(arrived, expected);
    }

    /// The kind found at set-up only leaves out questions: its twin asks them all.
    #[test]
    fn an_ordinary_pipe_is_the_general_one(
        offers in offers(), limit in limits(), delay_ms in 0..30_u64, loss in 0.0..0.5_f64,
        limited: bool, lossy: bool,
    ) {
        let error = if lossy {
            ErrorModel::Independent(Probability::new(loss).unwrap())
        } else {
            ErrorModel::None
        };
        let mut config = config(limit, error, Delay::Constant(Duration::from_millis(delay_ms)));
        if !limited {
            config.service = Service::Unlimited;
        }
        let mut ordinary = Pipe::new(config, Stream::new(5, "link"));
        prop_assert!(ordinary.is_ordinary);
        let mut general = ordinary.clone();
        general.is_ordinary = false;
        prop_assert_eq!(carry(&mut ordinary, &offers), carry(&mut general, &offers));
    }

    #[test]
    fn what_is_admitted_arrives_or_is_lost(
        offers in offers(), limit in limits(), loss in 0.0..=1.0_f64,
        rtts in proptest::collection::vec(0..40_u64, 1..20), reorder: bool,
    ) {
        let order = if reorder { DeliveryOrder::Reorder } else { DeliveryOrder::InOrder };
        let delay = Delay::Recorded { series: series(&rtts), order, start: RecordingStart::Beginning };
        let error = ErrorModel::Independent(Probability::new(loss).unwrap());
        let mut pipe = Pipe::new(config(limit, error, delay.clone()), Stream::new(9, "link"));
        let (arrived, verdicts) = carry(&mut pipe, &offers);

        let mut expected: Vec<usize> =
            (0..offers.len()).filter(|&p| verdicts[p] == Admission::Queued).collect();
        let mut packets: Vec<usize> = arrived.iter().map(|(packet, _)| *packet).collect();
        prop_assert!(arrived.is_sorted_by_key(|(_, at)| *at));
        // Simultaneous arrivals stay in the order of sending.
        prop_assert!(arrived.windows(2).all(|pair| pair[0].1 < pair[1].1 || pair[0].0 < pair[1].0));
        if reorder {
            packets.sort_unstable();
            expected.sort_unstable();
        }
        prop_assert_eq!(packets, expected);

        // A lost packet takes its turn: who overflows does not depend on losses.
        let mut lossless = Pipe::new(config(limit, ErrorModel::None, delay), Stream::new(9, "link"));
        let (arrived_without, verdicts_without) = carry(&mut lossless, &offers);
        for (with, without) in verdicts.iter().zip(&verdicts_without) {
            prop_assert_eq!(*with == Admission::Overflow, *without == Admission::Overflow);
        }
        if reorder {
            let survivors: Vec<(usize, u64)> = arrived_without
                .into_iter()
                .filter(|(packet, _)| verdicts[*packet] == Admission::Queued)
                .collect();
            prop_assert_eq!(arrived, survivors);
        }
    }
}

/// What a pipe would have to ask about each packet makes it a general one.
#[test]
fn only_a_pipe_with_nothing_else_is_ordinary() {
    let steady = || {
        let delay = Delay::Constant(Duration::ZERO);
        config(QueueLimit::Unlimited, ErrorModel::None, delay)
    };
    let is_ordinary = |config| Pipe::<usize>::new(config, Stream::new(0, "link")).is_ordinary;
    assert!(is_ordinary(steady()));
    let others: [fn(&mut PipeConfig); 5] = [
        |pipe| {
            pipe.fec = Some(FecConfig {
                block: NonZeroU32::MIN,
                repair: 1,
                adaptive: false,
                pause: Duration::ZERO,
            });
        },
        |pipe| {
            pipe.discipline = Discipline::CoDel(CoDelConfig {
                target: Duration::from_millis(5),
                interval: Duration::from_millis(100),
                ecn: false,
                largest_packet: 1500,
            });
        },
        |pipe| {
            let text = b"time_ms,delay_ms,loss\n0,0,0\n10,0,0.1\n";
            let conditions = Conditions::parse(text, "recorded").unwrap();
            pipe.error = ErrorModel::Recorded(Arc::new(conditions));
        },
        |pipe| {
            pipe.policer = Some(PolicerConfig {
                rate: RATE,
                burst: 3000,
            });
        },
        |pipe| {
            pipe.delay = Delay::Recorded {
                series: series(&[1]),
                order: DeliveryOrder::InOrder,
                start: RecordingStart::Beginning,
            };
        },
    ];
    for (number, change) in others.iter().enumerate() {
        let mut config = steady();
        change(&mut config);
        assert!(!is_ordinary(config), "{number}");
    }
}

/// Paper 1: the k-th transmission takes the k-th round-trip time, and the series repeats.
#[test]
fn recorded_delays_go_by_the_index_of_the_transmission() {
    let cases = [
        (DeliveryOrder::Reorder, vec![(1, 1), (3, 1), (0, 5), (2, 5)]),
        (DeliveryOrder::InOrder, vec![(0, 5), (1, 5), (2, 5), (3, 5)]),
    ];
    for (order, expected) in cases {
        let delay = Delay::Recorded {
            series: series(&[5, 1]),
            order,
            start: RecordingStart::Beginning,
        };
        let config = PipeConfig {
            policer: None,
            service: Service::Unlimited,
            queue: QueueLimit::Packets(0),
            discipline: Discipline::DropTail,
            fec: None,
            error: ErrorModel::None,
            delay,
        };
        let mut pipe = Pipe::new(config, Stream::new(0, "link"));
        let offer = Offer {
            gap_us: 0,
            bytes: 1500,
            flow: 0,
        };
        let (arrived, _) = carry(&mut pipe, &[offer; 4]);
        let ms: Vec<(usize, u64)> = arrived.iter().map(|&(p, at)| (p, at / 1_000_000)).collect();
        assert_eq!(ms, expected);
    }
}

/// Each seed begins at another point, a seed always at the same, and all points occur.
#[test]
fn a_recording_may_begin_anywhere() {
    let first_arrival = |seed| {
        let delay = Delay::Recorded {
            series: series(&[1, 2, 3]),
            order: DeliveryOrder::Reorder,
            start: RecordingStart::Random,
        };
        let config = PipeConfig {
            policer: None,
            service: Service::Unlimited,
            queue: QueueLimit::Unlimited,
            discipline: Discipline::DropTail,
            fec: None,
            error: ErrorModel::None,
            delay,
        };
        let mut pipe = Pipe::new(config, Stream::new(seed, "link"));
        let transmission = Transmission {
            bytes: 1500,
            flow: 0,
            index: 0,
        };
        pipe.push(Instant::ZERO, transmission, ());
        pipe.next_wakeup()
    };
    let arrivals: Vec<_> = (0..50).map(first_arrival).collect();
    assert_eq!(arrivals, (0..50).map(first_arrival).collect::<Vec<_>>());
    let distinct: std::collections::BTreeSet<_> = arrivals.into_iter().collect();
    assert_eq!(distinct.len(), 3);
}

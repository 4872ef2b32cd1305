//! Blocks by hand, and the losses that remain against the binomial distribution.

use std::sync::Arc;

use airtcp_units::{BitRate, Probability};

use super::*;
use crate::frame::Admission;
use crate::pipe::{Pipe, PipeConfig};
use crate::random::Stream;
use crate::trace::lost_packets::LostPackets;
use crate::{CoDelConfig, Delay, Discipline, ErrorModel, Service};

/// A packet of 1000 bytes takes a millisecond.
const RATE: BitRate = BitRate::from_bps(8_000_000);
const MICROS: u64 = 1000;

fn config(block: u32, repair: u32) -> FecConfig {
    FecConfig {
        block: NonZeroU32::new(block).unwrap(),
        repair,
        adaptive: false,
        pause: Duration::from_millis(10),
    }
}

fn pipe(fec: FecConfig, error: ErrorModel, discipline: Discipline) -> Pipe<u64> {
    let config = PipeConfig {
        fec: Some(fec),
        error,
        discipline,
        ..PipeConfig::line(
            Service::Constant(RATE),
            Delay::Constant(Duration::from_millis(5)),
        )
    };
    Pipe::new(config, Stream::new(7, "fec"))
}

fn listed(numbers: &[u64]) -> ErrorModel {
    let text: String = numbers.iter().map(|number| format!("{number}\n")).collect();
    let list = LostPackets::parse(format!("packet\n{text}").as_bytes(), "lost").unwrap();
    ErrorModel::Listed(Arc::new(list))
}

fn push(pipe: &mut Pipe<u64>, micros: u64, number: u64) {
    let transmission = Transmission {
        bytes: 1000,
        flow: 0,
        index: number,
    };
    let admission = pipe.push(Instant::from_nanos(micros * MICROS), transmission, number);
    assert_eq!(admission, Admission::Queued, "{number}");
}

/// What arrives, with the time in microseconds, and what does not, until nothing is left.
fn drain(pipe: &mut Pipe<u64>) -> (Vec<(u64, u64)>, Vec<u64>) {
    let (mut arrived, mut lost) = (Vec::new(), Vec::new());
    while pipe.next_wakeup() < Instant::FAR_FUTURE {
        let now = pipe.next_wakeup();
        while let Some(number) = pipe.pop(now) {
            arrived.push((number, now.as_nanos() / MICROS));
        }
        while let Some((number, admission)) = pipe.take_discarded() {
            assert_eq!(admission, Admission::Lost);
            lost.push(number);
        }
    }
    assert_eq!(pipe.in_flight(), 0);
    (arrived, lost)
}

/// Six packets at once in blocks of three with a repair packet of 1008 bytes: they leave at 1, 2,
/// 3 ms, the repair packet at 4.008, the next at 5.008. The second is lost and rebuilt when the
/// repair packet arrives, 5 ms after it left; the third waits for it. The queue may be any.
#[test]
fn a_lost_packet_is_rebuilt_by_the_blocks_repair_packet() {
    for discipline in [
        Discipline::DropTail,
        Discipline::CoDel(CoDelConfig::default()),
    ] {
        let mut pipe = pipe(config(3, 1), listed(&[1]), discipline);
        (0..6).for_each(|number| push(&mut pipe, 0, number));
        let (arrived, lost) = drain(&mut pipe);
        let expected = [
            (0, 6000),
            (1, 9008),
            (2, 9008),
            (3, 10_008),
            (4, 11_008),
            (5, 12_008),
        ];
        assert_eq!((arrived.as_slice(), lost.len()), (expected.as_slice(), 0));
    }
}

/// Two losses are more than one repair packet rebuilds: both are gone, and the packet between them
/// arrives when the block is over. Two repair packets rebuild both, when the second has arrived.
#[test]
fn a_block_rebuilds_as_many_losses_as_repair_packets_arrive() {
    let mut one = pipe(config(4, 1), listed(&[0, 2]), Discipline::DropTail);
    (0..4).for_each(|number| push(&mut one, 0, number));
    let (arrived, lost) = drain(&mut one);
    assert_eq!(arrived, [(1, 10_008), (3, 10_008)]);
    assert_eq!(lost, [0, 2]);
    let mut two = pipe(config(4, 2), listed(&[0, 2]), Discipline::DropTail);
    (0..4).for_each(|number| push(&mut two, 0, number));
    let (arrived, lost) = drain(&mut two);
    assert_eq!(arrived, [0, 1, 2, 3].map(|number| (number, 11_016)));
    assert!(lost.is_empty());
}

/// The tail of a transfer: nothing follows the second packet, which left at 2 ms, so that the block
/// ends at 12 ms, and the repair packet arrives at 12 + 1.008 + 5 ms. Packets that come later are
/// another block.
#[test]
fn a_pause_ends_an_incomplete_block() {
    let mut pipe = pipe(config(20, 2), listed(&[1]), Discipline::DropTail);
    push(&mut pipe, 0, 0);
    push(&mut pipe, 0, 1);
    let (arrived, lost) = drain(&mut pipe);
    assert_eq!(
        (arrived.as_slice(), lost.len()),
        ([(0, 6000), (1, 18_008)].as_slice(), 0)
    );
    // Nobody waits: the repair packet leaves at 110 ms all the same, and the link is free again at
    // 111.008 ms.
    push(&mut pipe, 99_000, 2);
    push(&mut pipe, 110_500, 3);
    let (arrived, _) = drain(&mut pipe);
    assert_eq!(arrived, [(2, 105_000), (3, 117_008)]);
}

/// Residual loss of an ideal code over independent losses: a packet is gone if it is lost and at
/// least `repair` of the other packets of its block, repair packets included, are:
/// p P(Bin(k + r − 1, p) ≥ r).
#[test]
fn the_losses_that_remain_are_the_binomials() {
    for (block, repair, rate) in [(10, 1, 0.05), (10, 2, 0.05), (20, 2, 0.02), (5, 3, 0.2)] {
        let error = ErrorModel::Independent(Probability::new(rate).unwrap());
        let mut pipe = pipe(config(block, repair), error, Discipline::DropTail);
        let count = 200_000;
        let mut lost = 0;
        for number in 0..count {
            push(&mut pipe, 0, number);
            while pipe.take_discarded().is_some() {
                lost += 1;
            }
        }
        let others = more_lost_than(repair - 1, block + repair - 1, rate);
        let expected = rate * others;
        let found = f64::from(lost) / count as f64;
        // Losses of a block come together: at most as spread as blocks with `repair` + 2 of them.
        let deviation = (expected * f64::from(repair + 2) / count as f64).sqrt();
        assert!(
            (found - expected).abs() < 5.0 * deviation,
            "{block} {repair} {rate}: {found}, {expected} ± {deviation}"
        );
    }
}

/// Repair packets take their share of the rate: 1000 packets with two of 1008 bytes after each
/// twenty take 1000 + 100.8 ms.
#[test]
fn repair_packets_take_the_links_time() {
    let mut pipe = pipe(config(20, 2), ErrorModel::None, Discipline::DropTail);
    (0..1000).for_each(|number| push(&mut pipe, 0, number));
    push(&mut pipe, 0, 1000);
    let (arrived, _) = drain(&mut pipe);
    assert_eq!(arrived[1000], (1000, 1_000_000 + 100_800 + 1000 + 5000));
}

/// P(Bin(4, 1/2) > 2) = 5/16, P(Bin(n, p) > 0) = 1 − (1 − p)^n.
#[test]
fn the_tail_of_the_binomial_is_exact() {
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
    near(more_lost_than(2, 4, 0.5), 5.0 / 16.0);
    near(more_lost_than(0, 10, 0.1), 1.0 - 0.9_f64.powi(10));
    near(more_lost_than(4, 4, 0.5), 0.0);
    near(more_lost_than(3, 4, 1.0), 1.0);
}

/// Adaptive, it sends none once nothing is lost, and at 5 % as many as keep 99 % of blocks of
/// twenty whole: four, as P(Bin(24, 0.05) > 4) = 0.4 % and P(Bin(23, 0.05) > 3) = 2.7 %; the
/// average loss rate varies, so one more or less.
#[test]
fn an_adaptive_link_sends_what_the_loss_rate_needs() {
    let adaptive = FecConfig {
        adaptive: true,
        ..config(20, 10)
    };
    for (rate, least, most) in [(0.0, 0.0, 0.1), (0.05, 3.0, 5.0)] {
        let error = ErrorModel::Independent(Probability::new(rate).unwrap());
        let mut pipe = pipe(adaptive, error, Discipline::DropTail);
        (0..40_000).for_each(|number| push(&mut pipe, 0, number));
        let blocks = 2000.0;
        let sent = pipe.fec.as_ref().unwrap().repairs_sent as f64 / blocks;
        assert!((least..most).contains(&sent), "{rate}: {sent}");
    }
}

//! Delays of the uplink's scheduling requests and of discontinuous reception, against closed forms.

use super::*;
use crate::mac::ran::drx::DrxConfig;

/// Delays in milliseconds of packets of 40 bytes that come alone, at times spread over all phases.
fn delays(config: &RanConfig, way: (u32, u32), count: u64, apart: Duration) -> Vec<f64> {
    let mut ran = Ran::new(config, Stream::new(1, "cell")).unwrap();
    let mut fates = Vec::new();
    let stream = Stream::new(1, "arrivals");
    (0..count)
        .map(|packet| {
            let phase = apart.as_secs_f64() / 2.0 * stream.uniform(packet);
            let at = Instant::ZERO + apart * packet + Duration::from_secs_f64(phase).unwrap();
            run(&mut ran, at, &mut fates);
            fates.clear();
            assert!(ran.push(at, way, offer(40), packet, &mut ()));
            while fates.is_empty() {
                let now = ran.next_wakeup();
                ran.on_wakeup(now, &mut ());
                collect(&mut ran, now, &mut fates);
            }
            assert_eq!((fates[0].0, fates[0].2), (packet, End::Delivered));
            (fates[0].1 - at).as_millis_f64()
        })
        .collect()
}

fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len() as f64
}

/// TR 36.881 §5: half a period of waiting, 1 ms for the request, 3 for the base station, 1 for the
/// grant, 3 for the user, 1 for the data, 3 for the base station: T/2 + 12 ms. Periods of 1 to 80
/// ms.
#[test]
fn a_packet_up_waits_for_the_scheduling_request() {
    for period in [1, 5, 10, 20, 40, 80] {
        let base = unacknowledged(lte(vec![radio(30.0, Fading::None, 0, 1)]));
        let config = RanConfig {
            uplink: UplinkConfig {
                request_period: NonZeroU32::new(period).unwrap(),
                ..base.uplink
            },
            ..base
        };
        let found = delays(&config, UP, 2000, Duration::from_millis(480));
        let expected = f64::from(period) / 2.0 + 12.0;
        assert!(
            (mean(&found) / expected - 1.0).abs() < 0.02,
            "{period}: {}",
            mean(&found)
        );
        let range = expected - f64::from(period) / 2.0;
        for delay in found {
            assert!(
                (range..=range + f64::from(period)).contains(&delay),
                "{period}: {delay}"
            );
        }
    }
}

/// A packet that comes between the block that emptied the buffer and the next slot is asked for
/// like any other, whenever it comes: it waits for at most a period, 12 ms, and 8 ms for the grant
/// of its rest.
#[test]
fn a_packet_that_follows_an_emptied_buffer_is_asked_for() {
    let config = lte(vec![radio(30.0, Fading::None, 0, 1)]);
    for quarter in 0..160 {
        let first = Instant::ZERO + Duration::from_millis(1000);
        let second = first + Duration::from_micros(250 * quarter);
        let fates = transfer(&config, UP, &[first, second]);
        assert_eq!(fates.len(), 2);
        let delay = (fates[1].1 - second).as_millis_f64();
        assert!(delay <= 30.0, "{quarter}: {delay}");
    }
}

/// A retransmitted block reports the buffer as it was when the block was filled: if the user has
/// asked for more since, the grant for it comes nevertheless, and no packet waits for
/// `retxBSR-Timer` (320 ms). At -3 dB, without an outer loop, a block in ten is retransmitted.
#[test]
fn a_late_report_of_an_empty_buffer_takes_no_grant_back() {
    let config = unacknowledged(lte(vec![radio(-3.0, Fading::None, 0, 1)]));
    let stream = Stream::new(2, "arrivals");
    let mut at = Instant::ZERO;
    let times: Vec<_> = (0..4000)
        .map(|packet| {
            at += Duration::from_micros(2_000 + stream.draw(packet) % 30_000);
            at
        })
        .collect();
    let fates = transfer(&config, UP, &times);
    let delivered: Vec<_> = fates
        .iter()
        .filter(|(_, _, end)| *end == End::Delivered)
        .collect();
    assert!(delivered.len() > 3900, "{}", delivered.len());
    let waited = delivered
        .iter()
        .map(|(packet, until, _)| (*until - times[*packet as usize]).as_millis_f64());
    let longest = waited.fold(0.0, f64::max);
    assert!(longest < 150.0, "{longest}");
}

/// A packet down waits half a slot for the next one, 1 ms, and 3 ms for the user.
#[test]
fn a_packet_down_takes_four_and_a_half_milliseconds() {
    let config = unacknowledged(lte(vec![radio(30.0, Fading::None, 0, 1)]));
    let found = delays(&config, DOWN, 2000, Duration::from_millis(400));
    assert!((mean(&found) / 4.5 - 1.0).abs() < 0.02, "{}", mean(&found));
}

/// Asleep for L − O of each cycle L, a packet down that comes at any time waits (L − O)²/2L on
/// average; with short cycles as long as packets come, S in place of L.
#[test]
fn a_packet_down_waits_for_the_next_cycle() {
    for (long_cycle, on_duration) in [(40, 10), (320, 10), (320, 20), (80, 8)] {
        let config = RanConfig {
            drx: Some(DrxConfig {
                on_duration,
                inactivity: 5,
                long_cycle,
                short_cycle: None,
            }),
            ..unacknowledged(lte(vec![radio(30.0, Fading::None, 0, 1)]))
        };
        let found = delays(&config, DOWN, 4000, Duration::from_millis(4 * long_cycle));
        let asleep = (long_cycle - on_duration) as f64;
        let expected = asleep * asleep / (2.0 * long_cycle as f64);
        let waited = mean(&found) - 4.5;
        let error = 3.0 * asleep / 4000_f64.sqrt() / expected;
        assert!(
            (waited / expected - 1.0).abs() < error.max(0.02),
            "{long_cycle}: {waited}"
        );
    }
    let short = RanConfig {
        drx: Some(DrxConfig {
            on_duration: 10,
            inactivity: 5,
            long_cycle: 320,
            short_cycle: Some((40, 100)),
        }),
        ..unacknowledged(lte(vec![radio(30.0, Fading::None, 0, 1)]))
    };
    let found = delays(&short, DOWN, 4000, Duration::from_millis(400));
    let waited = mean(&found) - 4.5;
    assert!(
        (waited / (30.0 * 30.0 / 80.0) - 1.0).abs() < 0.06,
        "{waited}"
    );
}

/// While the base station has granted nothing, packets gather, and leave in few blocks: what
/// bunches acknowledgments. 20 packets of 40 bytes, 1 ms apart, arrive at 2 instants, not at 20.
#[test]
fn packets_gather_while_the_request_waits() {
    let base = unacknowledged(lte(vec![radio(30.0, Fading::None, 0, 1)]));
    let config = RanConfig {
        uplink: UplinkConfig {
            request_period: NonZeroU32::new(40).unwrap(),
            request_grant: 100,
            ..base.uplink
        },
        ..base
    };
    let mut ran = Ran::new(&config, Stream::new(1, "cell")).unwrap();
    let mut fates = Vec::new();
    for packet in 0..20 {
        let at = Instant::ZERO + Duration::from_millis(1001 + packet);
        run(&mut ran, at, &mut fates);
        assert!(ran.push(at, UP, offer(40), packet, &mut ()));
    }
    run(&mut ran, Instant::ZERO + Duration::from_secs(9), &mut fates);
    let mut instants: Vec<_> = fates.iter().map(|(_, at, _)| *at).collect();
    instants.dedup();
    assert_eq!((fates.len(), instants.len()), (20, 2), "{fates:?}");
}

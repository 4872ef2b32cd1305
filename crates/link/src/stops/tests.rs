//! Stops against a table by hand, against closed forms, and against a naive link that is asked
//! nanosecond by nanosecond.

use super::*;
use crate::frame::Transmission;
use crate::service::Server;
use crate::{BaseDelay, Delay, Service, VariableDelay, delay::DelayProcess};
use airtcp_units::BitRate;
use proptest::prelude::*;

const fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

const fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// One byte takes one nanosecond.
const BYTE_A_NANO: BitRate = BitRate::from_bps(8_000_000_000);

fn list(stops: &[(u64, u64)]) -> Arc<StopList> {
    let rows = stops
        .iter()
        .map(|(start, length)| format!("{:.6},{:.6}\n", *start as f64 / 1e6, *length as f64 / 1e6));
    let text = format!("start_ms,length_ms\n{}", rows.collect::<String>());
    Arc::new(StopList::parse(text.as_bytes(), "stops").unwrap())
}

fn random(working: Duration, length: StopLength) -> Stops {
    Stops::Random(RandomStops {
        working,
        length,
        shared: None,
    })
}

/// The stops that a pipe with this seed meets before `end`.
fn stops_until(stops: Stops, seed: u64, end: Instant) -> Vec<Stop> {
    let list = stops.until(Stream::new(seed, "link.data"), end);
    list.as_slice().to_vec()
}

fn held(stops: Stops) -> DelayProcess {
    let delay = Delay::Variable(Box::new(VariableDelay {
        base: BaseDelay::Constant(nanos(10)),
        jitter: None,
        late: None,
        held: Some(stops),
    }));
    DelayProcess::new(delay, Stream::new(1, "link.data"))
}

const TRANSMISSION: Transmission = Transmission {
    bytes: 100,
    flow: 0,
    index: 0,
};

/// Stops from 100 to 150 and from 300 to 320; packets of 40 bytes take 40 ns and, where deliveries
/// are held, 10 ns of delay. A packet sent at 90 is served until 100 and from 150 on: it ends at
/// 180. The fourth ends as the second stop begins. An arrival at 110 or 149 is delivered at 150, an
/// arrival at 99 or 150 is not held.
#[test]
fn a_stopped_link_makes_packets_wait_and_a_holding_one_delivers_them_together() {
    let recorded = || Stops::Recorded(list(&[(100, 50), (300, 20)]));
    let service = Service::Suspended {
        rate: BYTE_A_NANO,
        stops: recorded(),
    };
    let mut server = Server::new(service, Stream::new(1, "link.data"));
    let mut departures = Vec::new();
    for (coming, bytes) in [(0, 40), (90, 40), (100, 40), (200, 80), (310, 40)] {
        let start = server.next_start(at(coming));
        departures.push(server.serve(start, bytes).as_nanos());
    }
    assert_eq!(departures, [40, 180, 220, 300, 360]);

    let mut process = held(recorded());
    let arrivals: Vec<_> = [80, 89, 90, 100, 139, 140, 290, 300]
        .map(|departure| process.arrival(at(departure), &TRANSMISSION).as_nanos())
        .to_vec();
    assert_eq!(arrivals, [90, 99, 150, 150, 150, 150, 320, 320]);
}

/// A stop that directly follows another holds the deliveries of the first.
#[test]
fn touching_stops_are_one() {
    let mut process = held(Stops::Recorded(list(&[(100, 50), (150, 50), (200, 0)])));
    assert_eq!(process.arrival(at(100), &TRANSMISSION), at(200));
}

/// So does one that follows a stop which an earlier packet has met already.
#[test]
fn a_stop_after_a_known_one_is_met() {
    let stops = Stops::Recorded(list(&[(100, 50), (150, 10), (160, 10)]));
    let mut deliveries = HeldDeliveries::new(stops, Stream::new(1, "link"));
    assert_eq!(deliveries.release(at(50), at(99)), at(99));
    assert_eq!(deliveries.release(at(60), at(120)), at(170));
}

/// The share of time in which an alternating renewal process is stopped is E[length] over
/// E[working] + E[length] (D. Cox, Renewal Theory, 1962, §7.2), its stops occur at a rate of one in
/// that sum, and both kinds of times have their means and, exponential ones, standard deviations
/// equal to them. Bounds are 4.5 standard errors.
#[test]
fn random_stops_have_their_share_of_time() {
    let (working, mean) = (Duration::from_millis(700), Duration::from_millis(300));
    let run = Duration::from_secs(20_000);
    for (length, variance) in [
        (StopLength::Fixed(mean), 0.0),
        (StopLength::Exponential(mean), 0.3 * 0.3),
    ] {
        let stops = stops_until(random(working, length), 11, Instant::ZERO + run);
        let count = stops.len() as f64;
        // Counts of a renewal process vary by its interval's variance over the cubed mean.
        let deviation = ((0.7 * 0.7 + variance) * 20_000.0_f64).sqrt();
        assert!((count - 20_000.0).abs() < 4.5 * deviation, "{count} stops");
        let lengths: Vec<f64> = stops
            .iter()
            .map(|stop| (stop.end - stop.start).as_secs_f64())
            .collect();
        let stopped: f64 = lengths.iter().sum();
        let share = stopped / 20_000.0;
        // The variance of the share is (w²·v_l + l²·v_w)/((w + l)³·t).
        let spread = (0.7 * 0.7 * variance + 0.3 * 0.3 * 0.7 * 0.7) / 20_000.0;
        assert!((share - 0.3).abs() < 4.5 * spread.sqrt(), "share {share}");
        let square = lengths.iter().map(|x| (x - 0.3) * (x - 0.3)).sum::<f64>() / count;
        assert!((square - variance).abs() < 0.01, "variance {square}");
    }
}

/// Shared parts are the same for both directions; the others differ.
#[test]
fn directions_stop_together_if_they_share_a_stream() {
    let own = random(
        Duration::from_millis(7),
        StopLength::Exponential(Duration::from_millis(3)),
    );
    let of = |stops: Stops, name| {
        let mut sequence = StopSequence::new(stops, Stream::new(1, name)).unwrap();
        sequence.ending_after(Instant::ZERO)
    };
    assert_ne!(of(own.clone(), "link.data"), of(own.clone(), "link.acks"));
    let shared = own.shared(Stream::new(1, "link.stops"));
    assert_eq!(of(shared.clone(), "link.data"), of(shared, "link.acks"));
}

fn any_stops() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let gaps = proptest::collection::vec((0..80_u64, 0..60_u64), 0..20);
    gaps.prop_map(|gaps| {
        let mut end = 0;
        let stop = |(gap, length)| {
            let start = end + gap;
            end = start + length;
            (start, length)
        };
        gaps.into_iter().map(stop).collect()
    })
}

proptest! {
    /// A link that is asked every nanosecond if it works.
    #[test]
    fn a_stopped_link_is_the_rate_integrated(
        stops in any_stops(),
        packets in proptest::collection::vec((0..200_u64, 1..60_u32), 1..30),
    ) {
        let recorded = Stops::Recorded(list(&stops));
        let service = Service::Suspended { rate: BYTE_A_NANO, stops: recorded };
        let mut server = Server::new(service, Stream::new(1, "link"));
        let stands = |nano, start, length| (start..start + length).contains(&nano);
        let works = |nano| !stops.iter().any(|&(start, length)| stands(nano, start, length));
        let (mut now, mut free) = (0, 0);
        for (gap, bytes) in packets {
            now += gap;
            let start = server.next_start(at(now));
            let departure = server.serve(start, bytes);
            let mut nano = now.max(free);
            let mut left = bytes;
            while left > 0 {
                left -= u32::from(works(nano));
                nano += 1;
            }
            prop_assert_eq!(departure, at(nano));
            free = nano;
        }
    }

    /// A packet that would arrive in a stop arrives at its end, whatever overtook it.
    #[test]
    fn deliveries_are_held_until_the_stop_ends(
        stops in any_stops(),
        packets in proptest::collection::vec((0..60_u64, 0..500_u64), 1..40),
    ) {
        let mut held = HeldDeliveries::new(Stops::Recorded(list(&stops)), Stream::new(1, "link"));
        let mut departure = 0;
        for (gap, delay) in packets {
            departure += gap;
            let mut expected = departure + delay;
            for &(start, length) in &stops {
                if (start..start + length).contains(&expected) {
                    expected = start + length;
                }
            }
            let released = held.release(at(departure), at(departure + delay));
            prop_assert_eq!(released, at(expected));
        }
    }

    /// Periodic stops equal a list with the same entries.
    #[test]
    fn periodic_holds_are_a_list(
        every in 1..300_u64, share in 0..100_u64,
        packets in proptest::collection::vec((0..60_u64, 0..500_u64), 1..40),
    ) {
        let length = every * share / 100;
        let stops: Vec<_> = (1..4000 / every + 2).map(|k| (k * every, length)).collect();
        let periodic = Stops::Periodic { every: nanos(every), length: nanos(length) };
        let stream = Stream::new(1, "link");
        let mut arithmetic = HeldDeliveries::new(periodic, stream);
        let mut listed = HeldDeliveries::new(Stops::Recorded(list(&stops)), stream);
        let mut departure = 0;
        for (gap, delay) in packets {
            departure += gap;
            let (left, arrival) = (at(departure), at(departure + delay));
            prop_assert_eq!(arithmetic.release(left, arrival), listed.release(left, arrival));
        }
    }
}

/// Stops that were drawn, written and read are the same to the nanosecond; periodic stops are
/// listed too.
#[test]
fn drawn_stops_can_be_given_back() {
    let own = Stream::new(4, "link.data");
    let length = StopLength::Exponential(Duration::from_micros(30_123));
    let drawn = random(Duration::from_millis(77), length);
    let end = Instant::ZERO + Duration::from_secs(1000);
    let list = drawn.until(own, end);
    assert!(list.as_slice().len() > 5000);
    let read = StopList::parse(list.to_csv().as_bytes(), "stops").unwrap();
    assert_eq!(read, list);
    let again = Stops::Recorded(Arc::new(read)).until(own, end);
    assert_eq!(again, list);
    let periodic = Stops::Periodic {
        every: nanos(10),
        length: nanos(3),
    };
    let spans = periodic.until(own, at(31));
    let starts: Vec<_> = spans.as_slice().iter().map(|stop| stop.start).collect();
    assert_eq!(starts, [at(10), at(20), at(30)]);
}

#[test]
fn the_far_future_is_no_trap() {
    let long = random(Duration::MAX, StopLength::Exponential(Duration::MAX));
    let mut sequence = StopSequence::new(long.clone(), Stream::new(1, "link")).unwrap();
    let mut after = Instant::ZERO;
    for _ in 0..10 {
        after = sequence
            .ending_after(after)
            .map_or(Instant::FAR_FUTURE, |stop| stop.end);
    }
    assert_eq!(after, Instant::FAR_FUTURE);
    let mut process = held(long);
    assert!(process.arrival(at(u64::MAX - 5), &TRANSMISSION) >= at(u64::MAX - 5));
    let always = Stops::Periodic {
        every: nanos(5),
        length: nanos(5),
    };
    assert_eq!(
        held(always).arrival(at(7), &TRANSMISSION),
        Instant::FAR_FUTURE
    );
}

/// A recording that repeats, queried nanosecond by nanosecond: a run that begins at `begin` is in a
/// stop if the list has one at that position of the round, and its conditions are the ones there.
/// Entries after the round are not met. Both directions begin together.
#[test]
fn a_recording_starts_again_from_where_the_seed_began() {
    use crate::trace::conditions::Conditions;
    use crate::trace::repeat::{RecordingStart, Repeat};

    let stops = list(&[(0, 3), (10, 5), (38, 9), (50, 5)]);
    let text = b"time_ms,delay_ms,loss\n0,1,0\n0.000010,2,0\n0.000035,3,1\n0.000055,4,0\n";
    let conditions = Conditions::parse(text, "x").unwrap();
    let mut begins = Vec::new();
    for start in [RecordingStart::Beginning, RecordingStart::Random] {
        for seed in 0..20 {
            let repeat = Repeat::new(nanos(40), start).unwrap();
            let shared = Stream::new(seed, "link.stops");
            let stopped = Stops::Recorded(Arc::new(stops.repeated(repeat))).shared(shared);
            let found = stopped.until(Stream::new(seed, "link.data"), at(1_000));
            let in_stop = |nanos: u64| {
                let holds = |stop: &Stop| (stop.start..stop.end).contains(&at(nanos));
                found.as_slice().iter().any(holds)
            };
            let of_round = |place: u64| place < 3 || (10..15).contains(&place) || place >= 38;
            let agrees = |begin: u64| (0..400).all(|t| in_stop(t) == of_round((t + begin) % 40));
            let begin = (0..40).find(|begin| agrees(*begin)).unwrap();
            begins.push(begin);

            let met = Arc::new(conditions.repeated(repeat)).begun(shared);
            for t in 0..400 {
                assert_eq!(met.at(at(t)), conditions.at(at((t + begin) % 40)), "{t}");
            }
        }
    }
    assert!(begins[..20].iter().all(|begin| *begin == 0));
    begins.sort_unstable();
    begins.dedup();
    assert!(begins.len() > 8, "20 seeds begin at {begins:?}");
}

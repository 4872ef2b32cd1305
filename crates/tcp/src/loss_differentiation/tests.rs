use super::*;

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn event(lost_segments: u32) -> LossEvent {
    LossEvent {
        now: at(0),
        lost_segments,
        cwnd: 20_000,
        mss: 1000,
        offset: 0,
    }
}

fn fed(choice: Differentiation, rtts: &[u64]) -> Classifier {
    let mut classifier = Classifier::new(&choice);
    for &rtt in rtts {
        classifier.on_rtt_sample(at(0), milliseconds(rtt));
    }
    classifier
}

/// By hand with a gain of 1/16: 100, then 132: mean 102, deviation 1/8 × 30 = 3.75; then 70: mean
/// 100, deviation 7/8 × 3.75 + 1/8 × 30 = 7.03125.
#[test]
fn mean_and_deviation_follow_the_paper() {
    let mut round_trips = RoundTrips::new(1.0 / 16.0);
    let near = |value: f64, expected: f64| (value - expected).abs() < 1e-12;
    round_trips.add(milliseconds(100));
    assert!(near(round_trips.mean, 0.1) && near(round_trips.deviation, 0.0));
    round_trips.add(milliseconds(132));
    assert!(near(round_trips.mean, 0.102) && near(round_trips.deviation, 0.00375));
    round_trips.add(milliseconds(70));
    assert!(near(round_trips.mean, 0.1), "{round_trips:?}");
    assert!(near(round_trips.deviation, 0.007_031_25), "{round_trips:?}");
}

/// The values of n for which a sample is attributed to the radio, as digits. The statistics are as
/// in the test above except for the last sample.
fn rows(table: ZigZagTable, latest: f64) -> String {
    let mut round_trips = RoundTrips::new(table.gain);
    (round_trips.mean, round_trips.deviation) = (0.1, 0.010);
    round_trips.latest = latest;
    (1..=5)
        .filter(|&lost| table.classify(&round_trips, lost) == Cause::Radio)
        .map(|lost| lost.to_string())
        .collect()
}

/// Lien et al. §II-A: mean 100 ms, deviation 10 ms: thresholds 90, 95, 100, 105.
#[test]
fn newzag_allows_longer_round_trips_the_more_are_lost() {
    let original = |latest| rows(ZigZagTable::NEWZAG, latest);
    assert_eq!(original(0.0899), "12345");
    assert_eq!(original(0.0901), "2345");
    assert_eq!(original(0.0951), "345");
    assert_eq!(original(0.1001), "45");
    assert_eq!(original(0.1051), "");
    let adjusted = |latest| rows(ZigZagTable::NEWZAG_ADJUSTED, latest);
    assert_eq!(adjusted(0.0999), "12345");
    assert_eq!(adjusted(0.1001), "45");
    assert_eq!(adjusted(0.1051), "");
}

#[test]
fn published_zigzags_differ_for_three_and_more() {
    assert_eq!(rows(ZigZagTable::CEN, 0.0951), "3");
    assert_eq!(rows(ZigZagTable::CEN, 0.0949), "2345");
    assert_eq!(rows(ZigZagTable::STRICT, 0.0949), "245");
    assert_eq!(rows(ZigZagTable::STRICT, 0.0899), "12345");
}

/// Between 100 and 160 ms a spike begins above 130 and ends below 120.
#[test]
fn spike_begins_at_half_of_the_range_and_ends_at_a_third() {
    let after = |last: &[u64]| {
        let rtts = [&[160, 100], last].concat();
        fed(Differentiation::Spike, &rtts).classify(&event(1), &())
    };
    assert_eq!(after(&[]), Cause::Radio);
    assert_eq!(after(&[129]), Cause::Radio);
    assert_eq!(after(&[131]), Cause::Congestion);
    assert_eq!(after(&[131, 121]), Cause::Congestion, "not over yet");
    assert_eq!(after(&[131, 119]), Cause::Radio);
}

/// Arrivals 10 ms apart; two are lost: 30 to 32.5 ms match them.
#[test]
fn mbiaz_asks_whether_the_gap_is_that_of_the_lost_packets() {
    let gap = |milliseconds: u64, lost| {
        let mut classifier = fed(Differentiation::MBiaz, &[100]);
        for arrival in 0..5 {
            classifier.on_acknowledged(at(10 * arrival), 1);
        }
        classifier.on_acknowledged(at(40 + milliseconds), 1);
        classifier.classify(&event(lost), &())
    };
    assert_eq!(gap(29, 2), Cause::Congestion);
    assert_eq!(gap(30, 2), Cause::Radio);
    assert_eq!(gap(32, 2), Cause::Radio);
    assert_eq!(gap(33, 2), Cause::Congestion);
    assert_eq!(gap(20, 1), Cause::Radio);
    assert_eq!(gap(20, 2), Cause::Congestion);
}

#[test]
fn a_gap_with_a_loss_is_no_time_between_arrivals() {
    let mut interarrival = Interarrival::default();
    interarrival.add(at(0), 1);
    interarrival.add(at(20), 2);
    assert_eq!(interarrival.least(), Some(0.01));
    interarrival.on_loss();
    interarrival.add(at(21), 1);
    assert_eq!(interarrival.least(), Some(0.01));
    interarrival.add(at(26), 1);
    assert_eq!(interarrival.least(), Some(0.005));
}

/// Cen et al. §V: by the ratio of the average to the minimum interarrival time; with nothing
/// queued, Spike.
#[test]
fn zbs_chooses_by_the_time_between_arrivals() {
    let mut round_trips = RoundTrips::new(1.0 / 32.0);
    (round_trips.mean, round_trips.deviation) = (0.1, 0.01);
    (round_trips.least, round_trips.greatest) = (0.05, 0.2);
    round_trips.latest = 0.085;
    let mut spike = Spike::default();
    // Inside a spike Spike's answer is congestion where ZigZag's, below 90 ms, is radio.
    round_trips.latest = 0.19;
    spike.add(&round_trips);
    round_trips.latest = 0.085;
    let answer = |arrivals: &[u64]| {
        let mut interarrival = Interarrival::default();
        for &arrival in arrivals {
            interarrival.add(at(arrival), 1);
        }
        zbs::classify(&round_trips, &interarrival, &spike, 1)
    };
    // 10, then 22 ms eight times: the average moves from 10 towards 22, to about 1.8 of the
    // minimum.
    let wide: Vec<_> = (0..=8).map(|index| 10 + 22 * index).collect();
    assert_eq!(answer(&[&[0], &wide[..]].concat()), Cause::Radio, "ZigZag");
    // All 10 ms: mBiaz, and 10 ms is no gap with a loss.
    assert_eq!(answer(&[0, 10, 20, 30]), Cause::Congestion, "mBiaz");
    let spread: Vec<_> = (0..=40).map(|index| 10 + 40 * index).collect();
    assert_eq!(
        answer(&[&[0], &spread[..]].concat()),
        Cause::Congestion,
        "Spike"
    );
}

/// Fu & Liew §II: 20 segments, 100 ms at best: at 117 ms 2.9 are queued, at 118 ms 3.05.
#[test]
fn veno_counts_what_is_queued() {
    let veno = Differentiation::Veno { beta: 3.0 };
    assert_eq!(
        fed(veno, &[100, 117]).classify(&event(1), &()),
        Cause::Radio
    );
    assert_eq!(
        fed(veno, &[100, 118]).classify(&event(1), &()),
        Cause::Congestion
    );
}

/// Knows of one loss, and draws multiples of the golden ratio: evenly spread words.
struct Knows(Cause);

impl Insight for Knows {
    fn cause_of(&self, offset: u64) -> Option<Cause> {
        (offset == 3000).then_some(self.0)
    }

    fn draw(&self, index: u64) -> Option<u64> {
        Some(index.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

#[test]
fn the_oracle_says_what_it_is_told() {
    let mut oracle = fed(Differentiation::Oracle, &[100]);
    let event = LossEvent {
        offset: 3000,
        ..event(1)
    };
    for told in [Cause::Radio, Cause::Congestion] {
        assert_eq!(oracle.classify(&event, &Knows(told)), told);
    }
    // On the wire nobody knows.
    assert_eq!(oracle.classify(&event, &()), Cause::Congestion);
}

/// Of evenly spread draws 0.3 fall below 0.3, to within a few.
#[test]
fn the_coin_is_as_biased_as_it_is_told() {
    let toss = |coin: &mut Coin, radio| coin.classify(radio, &Knows(Cause::Radio));
    let mut coin = Coin::default();
    let radio = (0..10_000)
        .filter(|_| toss(&mut coin, 0.3) == Cause::Radio)
        .count();
    assert!(radio.abs_diff(3000) < 10, "{radio}");
    assert_eq!(toss(&mut Coin::default(), 0.0), Cause::Congestion);
    assert_eq!(toss(&mut Coin::default(), 1.0), Cause::Radio);
    assert_eq!(Coin::default().classify(1.0, &()), Cause::Congestion);
}

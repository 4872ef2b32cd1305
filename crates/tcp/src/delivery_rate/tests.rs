use super::*;

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

const MIN: Duration = Duration::from_millis(40);

fn latest(sent_at: Instant) -> LatestSent {
    LatestSent { sent_at, end: 0 }
}

/// Draft §3.3 by hand: ten segments of 1000 bytes leave 1 ms apart from 100 ms on and are
/// acknowledged 5 ms apart from 150 ms on: the first sample spans no earlier delivery; the last
/// spans from the delivery before its segment was sent, 100 ms, to 195 ms: 10 000 bytes in 95 ms.
#[test]
fn a_sample_spans_from_the_last_delivery_before_the_segment_was_sent() {
    let mut rate = DeliveryRate::default();
    let tags: Vec<_> = (0..10)
        .map(|index| rate.on_sent(at(100 + index), index == 0, 1000 * index, 1000))
        .collect();
    let mut samples = Vec::new();
    for (index, tag) in (0..10).zip(tags) {
        let segment = Some((tag, latest(at(100 + index))));
        samples.push(rate.on_delivered(at(150 + 5 * index), 1000, segment, MIN));
    }
    let last = samples[9].expect("long enough");
    assert_eq!((last.delivered, last.prior_delivered), (10_000, 0));
    assert_eq!(last.interval, Duration::from_millis(95));
    assert_eq!(last.bytes_per_second(), 105_263);
    assert_eq!(rate.delivered(), 10_000);
}

/// A segment sent when 2000 bytes were delivered at 150 ms, acknowledged at 200 ms with 5000: 3000
/// bytes in 50 ms.
#[test]
fn what_was_delivered_before_does_not_count() {
    let mut rate = DeliveryRate::default();
    let first = rate.on_sent(at(100), true, 0, 2000);
    rate.on_delivered(at(150), 2000, Some((first, latest(at(100)))), MIN);
    let second = rate.on_sent(at(150), false, 4000, 1000);
    let sample = rate.on_delivered(at(200), 3000, Some((second, latest(at(150)))), MIN);
    let sample = sample.expect("long enough");
    assert_eq!((sample.delivered, sample.prior_delivered), (3000, 2000));
    assert_eq!(sample.bytes_per_second(), 60_000);
    assert_eq!(sample.in_flight_at_send, 5000);
}

/// Draft §3.3: an interval shorter than the minimum round trip gives no estimate.
#[test]
fn a_compressed_train_of_acknowledgments_is_no_sample() {
    let mut rate = DeliveryRate::default();
    let tag = rate.on_sent(at(100), true, 0, 1000);
    let sample = rate.on_delivered(at(110), 1000, Some((tag, latest(at(100)))), MIN);
    assert_eq!(sample, None);
    assert_eq!(rate.on_delivered(at(120), 0, None, MIN), None);
}

/// On a path that takes no virtual time: 1000 bytes in a microsecond, the resolution of Linux's
/// clock.
#[test]
fn an_interval_of_nothing_is_a_microsecond() {
    let mut rate = DeliveryRate::default();
    let tag = rate.on_sent(at(100), true, 0, 1000);
    let sample = rate.on_delivered(at(100), 1000, Some((tag, latest(at(100)))), Duration::ZERO);
    let sample = sample.expect("no shorter than the least round trip");
    assert_eq!(sample.bytes_per_second(), 1_000_000_000);
}

/// Draft §3.4: samples are limited by the application until the data in flight then is delivered.
#[test]
fn a_lull_of_the_application_marks_samples() {
    let mut rate = DeliveryRate::default();
    let tag = rate.on_sent(at(100), true, 0, 1000);
    rate.on_application_limited(1000);
    assert!(rate.is_application_limited());
    let marked = rate.on_sent(at(101), false, 1000, 1000);
    assert!(!tag.application_limited && marked.application_limited);
    rate.on_delivered(at(150), 1000, Some((tag, latest(at(100)))), MIN);
    assert!(rate.is_application_limited());
    let sample = rate.on_delivered(at(151), 1000, Some((marked, latest(at(101)))), MIN);
    assert!(sample.expect("long enough").application_limited);
    assert!(!rate.is_application_limited());
    rate.on_lost(500);
    assert_eq!(rate.on_sent(at(160), true, 0, 1000).lost, 500);
}

/// Linux, `tcp_rate_skb_sent`: after a timeout nothing counts as in flight, yet the acknowledgments
/// in transit are of data sent before, so the interval begins there.
#[test]
fn a_timeout_does_not_shorten_the_interval() {
    let mut rate = DeliveryRate::default();
    let first = rate.on_sent(at(100), true, 0, 1000);
    let resent = rate.on_sent(at(400), false, 0, 1000);
    assert_eq!(resent.first_sent_at, first.first_sent_at);
    assert_eq!(resent.delivered_at, at(100));
}

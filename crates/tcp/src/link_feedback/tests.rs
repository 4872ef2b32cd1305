use super::*;
use crate::config::{DynamicThreshold, GapCount, RttClustering, ThresholdCap};

const MSS: u64 = 1000;

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

fn reports(config: LinkFeedbackConfig) -> LinkReports {
    LinkReports::new(&config).expect("it asks for something")
}

#[test]
fn nothing_asked_for_is_nothing() {
    assert!(LinkReports::new(&LinkFeedbackConfig::default()).is_none());
}

/// Srinivasan §3.1 by hand: 160 ms with two retransmissions of 30 ms is 100 ms; no less than the
/// minimum round trip; of several segments the newest counts.
#[test]
fn a_round_trip_is_corrected_by_the_links_retransmissions() {
    let mut link = reports(LinkFeedbackConfig {
        corrected_rtt: Some(milliseconds(30)),
        ..LinkFeedbackConfig::default()
    });
    link.on_delivered(0, MSS, 2, MSS);
    let least = milliseconds(90);
    assert_eq!(
        link.filter(MSS, milliseconds(160), least),
        Some(milliseconds(100))
    );
    assert_eq!(
        link.filter(MSS, milliseconds(160), least),
        Some(milliseconds(160)),
        "once"
    );
    link.on_delivered(MSS, 2 * MSS, 5, MSS);
    link.on_delivered(2 * MSS, 3 * MSS, 1, MSS);
    assert_eq!(
        link.filter(3 * MSS, milliseconds(150), least),
        Some(milliseconds(120))
    );
    // The third is overtaken by the fourth: the acknowledgment of both answers the third.
    link.on_delivered(4 * MSS, 5 * MSS, 0, MSS);
    link.on_delivered(3 * MSS, 4 * MSS, 1, MSS);
    assert_eq!(
        link.filter(5 * MSS, milliseconds(150), least),
        Some(milliseconds(120))
    );
    link.on_delivered(5 * MSS, 6 * MSS, 9, MSS);
    assert_eq!(link.filter(6 * MSS, milliseconds(150), least), Some(least));
}

fn thresholds(count: GapCount, cap: ThresholdCap) -> LinkReports {
    reports(LinkFeedbackConfig {
        dynamic_threshold: Some(DynamicThreshold { count, cap }),
        ..LinkFeedbackConfig::default()
    })
}

/// Delivers a segment on the link; returns the threshold in a large window.
fn deliver(link: &mut LinkReports, segment: u64) -> u32 {
    link.on_delivered(segment * MSS, (segment + 1) * MSS, 0, MSS);
    link.threshold(3, 100 * MSS, MSS)
}

/// Srinivasan §3.2 by hand, `3 + (L_ack_max − indx)` at all times: 5 and 7 pending, 6 and 8
/// delivered, is 3 + 3, since 7 will cause a duplicate too.
#[test]
fn the_threshold_counts_all_that_is_above_the_first_gap() {
    let mut link = thresholds(GapCount::AboveFirstGap, ThresholdCap::None);
    for segment in 0..4 {
        assert_eq!(deliver(&mut link, segment), 3);
    }
    assert_eq!(
        deliver(&mut link, 6),
        5,
        "4 is pending; 5 and 6 are above it"
    );
    assert_eq!(deliver(&mut link, 8), 7);
    assert_eq!(
        deliver(&mut link, 4),
        6,
        "5 is pending: 6, 7, 8 are above it"
    );
    assert_eq!(deliver(&mut link, 7), 6);
    assert_eq!(deliver(&mut link, 5), 3, "none is pending");
}

/// The same deliveries as printed in the pseudocode: one more for each above all earlier ones, and
/// 3 + 3 when 4, the first gap, closes; 7 closes no first gap and changes nothing.
#[test]
fn the_threshold_as_printed_counts_deliveries_until_the_first_gap_closes() {
    let mut link = thresholds(GapCount::AsPrinted, ThresholdCap::None);
    for (segment, expected) in [
        (0, 3),
        (1, 3),
        (2, 3),
        (3, 3),
        (6, 4),
        (8, 5),
        (4, 6),
        (7, 6),
        (9, 7),
        (5, 3),
    ] {
        assert_eq!(deliver(&mut link, segment), expected, "{segment}");
    }
}

/// Data acknowledged by TCP leaves no gap, whatever the link reports.
#[test]
fn acknowledgments_close_gaps() {
    for count in [GapCount::AboveFirstGap, GapCount::AsPrinted] {
        let mut link = thresholds(count, ThresholdCap::None);
        for segment in [0, 2, 3, 6] {
            deliver(&mut link, segment);
        }
        link.on_acknowledged(4 * MSS, MSS);
        assert_eq!(link.threshold(3, 100 * MSS, MSS), 3 + 2, "4 is pending");
        link.on_acknowledged(7 * MSS, MSS);
        assert_eq!(link.threshold(3, 100 * MSS, MSS), 3);
    }
}

/// A window of n segments causes at most n − 1 duplicates (RFC 4653's lesson).
#[test]
fn the_threshold_is_capped_by_the_window_where_the_cap_says_so() {
    for (cap, of_eight, of_two) in [
        (ThresholdCap::default(), 7, 3),
        (ThresholdCap::BelowWindow(3), 5, 3),
        (ThresholdCap::BelowWindow(0), 8, 3),
        (ThresholdCap::None, 32, 32),
    ] {
        let mut link = thresholds(GapCount::AboveFirstGap, cap);
        for segment in 10..30 {
            deliver(&mut link, segment);
        }
        assert_eq!(link.threshold(3, 8 * MSS, MSS), of_eight, "{cap:?}");
        assert_eq!(link.threshold(3, 2 * MSS, MSS), of_two, "{cap:?}");
    }
}

/// The timeout that a link reports is used (§3.1, step 1).
#[test]
fn the_links_own_timeout_counts() {
    let mut link = reports(LinkFeedbackConfig {
        corrected_rtt: Some(milliseconds(5)),
        ..LinkFeedbackConfig::default()
    });
    link.on_retry_timeout(milliseconds(100));
    link.on_delivered(0, MSS, 2, MSS);
    let believed = link.filter(MSS, milliseconds(260), milliseconds(40));
    assert_eq!(believed, Some(milliseconds(60)));
}

fn clusters() -> LinkReports {
    reports(LinkFeedbackConfig {
        rtt_clusters: Some(RttClustering::by(milliseconds(20))),
        ..LinkFeedbackConfig::default()
    })
}

/// Round trips of 100 ms, and of 120 and 140 ms after one or two link retransmissions: the classes'
/// offsets are subtracted.
#[test]
fn classes_of_retransmissions_lose_their_offset() {
    let mut link = clusters();
    for index in 0..64_u64 {
        let rtt = [100, 101, 120, 99, 141, 100, 121, 101][(index % 8) as usize];
        link.filter(0, milliseconds(rtt), milliseconds(99));
    }
    for (rtt, low, high) in [(100, 99, 101), (120, 98, 102), (141, 98, 103)] {
        let sample = link.filter(0, milliseconds(rtt), milliseconds(99));
        let sample = sample.expect("no transient").as_millis_f64();
        assert!(
            sample >= f64::from(low) && sample <= f64::from(high),
            "{rtt}: {sample}"
        );
    }
}

#[test]
fn a_lone_spike_is_kept_from_the_estimator() {
    let mut link = clusters();
    for index in 0..48_u64 {
        let taken = link.filter(0, milliseconds(100 + index % 3), milliseconds(100));
        assert!(taken.is_some());
    }
    assert_eq!(link.filter(0, milliseconds(900), milliseconds(100)), None);
    assert!(
        link.filter(0, milliseconds(101), milliseconds(100))
            .is_some()
    );
}

/// A path that has become longer permanently is soon believed.
#[test]
fn a_lasting_change_is_no_transient() {
    let mut link = clusters();
    for _ in 0..48 {
        link.filter(0, milliseconds(100), milliseconds(100));
    }
    let believed = (0..48)
        .filter(|_| {
            link.filter(0, milliseconds(307), milliseconds(100))
                .is_some()
        })
        .count();
    assert!(believed >= 30, "{believed}");
}

use super::*;

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

/// Srinivasan §3.1 by hand: 160 ms with two retransmissions of 30 ms is 100 ms; no less than the least
/// round trip; of several segments the newest counts.
#[test]
fn a_round_trip_is_corrected_by_the_links_retransmissions() {
    let mut link = reports(LinkFeedbackConfig {
        corrected_rtt: Some(milliseconds(30)),
        ..LinkFeedbackConfig::default()
    });
    link.on_delivered(0, MSS, 2);
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
    link.on_delivered(MSS, 2 * MSS, 5);
    link.on_delivered(2 * MSS, 3 * MSS, 1);
    assert_eq!(
        link.filter(3 * MSS, milliseconds(150), least),
        Some(milliseconds(120))
    );
    link.on_delivered(3 * MSS, 4 * MSS, 9);
    assert_eq!(link.filter(4 * MSS, milliseconds(150), least), Some(least));
}

/// Srinivasan §3.2: 3, and one for each segment the link delivers behind one that it still retransmits;
/// when the gap closes, what is behind the next.
#[test]
fn the_threshold_counts_what_is_behind_a_gap() {
    let mut link = reports(LinkFeedbackConfig {
        dynamic_threshold: true,
        ..LinkFeedbackConfig::default()
    });
    let deliver = |link: &mut LinkReports, segment: u64| {
        link.on_delivered(segment * MSS, (segment + 1) * MSS, 0);
        link.threshold(3, 100 * MSS, MSS)
    };
    assert_eq!(deliver(&mut link, 0), 3);
    // 1 is retransmitted; 2 to 4 overtake it, 6 overtakes 5 too.
    assert_eq!(deliver(&mut link, 2), 4);
    assert_eq!(deliver(&mut link, 3), 5);
    assert_eq!(deliver(&mut link, 4), 6);
    assert_eq!(deliver(&mut link, 6), 7);
    assert_eq!(deliver(&mut link, 1), 4, "6 is behind 5");
    link.on_acknowledged(6 * MSS);
    assert_eq!(link.threshold(3, 100 * MSS, MSS), 3);
    // Never more than the window can make (RFC 4653's lesson).
    for segment in 10..30 {
        deliver(&mut link, segment);
    }
    assert_eq!(link.threshold(3, 8 * MSS, MSS), 7);
    assert_eq!(link.threshold(3, 2 * MSS, MSS), 3);
}

fn clusters() -> LinkReports {
    reports(LinkFeedbackConfig {
        rtt_clusters: Some(milliseconds(20)),
        ..LinkFeedbackConfig::default()
    })
}

/// Round trips of 100 ms, and 120 and 140 where the link sent once or twice more: the classes' offsets
/// are taken off.
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

/// A path that has become longer for good is soon believed.
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

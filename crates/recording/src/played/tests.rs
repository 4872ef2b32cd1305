use super::*;

/// A log of probes an interval apart; NaN without an answer.
fn log(interval_s: f64, rtt_s: Vec<f64>) -> TimedLog {
    TimedLog {
        time_s: (0..rtt_s.len()).map(|n| n as f64 * interval_s).collect(),
        rtt_s,
        interval_s,
        unplaced: 0,
    }
}

fn played(log: &TimedLog, unanswered: Unanswered) -> PlayedLink {
    let options = LinkOptions {
        name: "mine".to_owned(),
        rate: "12 Mbit/s".parse().expect("a rate"),
        unanswered,
        seconds: 60,
    };
    PlayedLink::of(log, &Events::of(log), &options)
}

/// The rows of a file: numbers by column.
fn rows(link: &PlayedLink, file: &str) -> Vec<Vec<f64>> {
    let lines = link.files[file].lines().skip(1);
    lines
        .map(|line| {
            line.split(',')
                .map(|one| one.parse().expect(line))
                .collect()
        })
        .collect()
}

#[test]
fn a_quantile_lies_between_two_values_in_proportion() {
    assert_eq!(quantile(&[1.0, 2.0, 3.0, 5.0], 0.5), 2.5);
    assert_eq!(quantile(&[1.0, 2.0, 3.0, 5.0], 0.9), 4.4);
    assert_eq!(quantile(&[7.0], 0.05), 7.0);
}

/// 40 ms, and ten probes in a row without an answer from 20 s on.
#[test]
fn a_run_without_answers_is_a_gap_or_a_stop() {
    let mut rtt_s = vec![0.04; 600];
    rtt_s[100..110].fill(f64::NAN);
    let log = log(0.2, rtt_s);
    let lost = played(&log, Unanswered::Lost);
    assert!(!lost.files.contains_key("stops.csv"));
    let lossy: Vec<Vec<f64>> = rows(&lost, "delays.csv")
        .into_iter()
        .filter(|row| row[2] == 1.0)
        .collect();
    assert_eq!((lossy[0][0], lossy[0][1]), (19_900.0, 20.0));
    assert_eq!(lossy.len(), 11);
    let waited = played(&log, Unanswered::Waited);
    assert_eq!(rows(&waited, "stops.csv"), [[19_900.0, 2_000.0]]);
    assert!(rows(&waited, "delays.csv").iter().all(|row| row[2] == 0.0));
    assert!(waited.toml.contains("stops = { process = \"recorded\""));
}

/// The probes sent in 1.5 s are answered all at once at its end.
#[test]
fn answers_at_once_are_a_stop() {
    let mut rtt_s = vec![0.03; 400];
    for (waiting, rtt) in rtt_s[50..58].iter_mut().enumerate() {
        *rtt = 1.53 - 0.2 * waiting as f64;
    }
    let log = log(0.2, rtt_s);
    let events = Events::of(&log);
    assert_eq!(events.stops.len(), 1);
    let stop = events.stops[0];
    assert!(
        (stop.start_s - 10.0).abs() < 1e-9 && (stop.length_s - 1.5).abs() < 1e-9,
        "{stop:?}"
    );
    let link = played(&log, Unanswered::Lost);
    assert!(rows(&link, "delays.csv").iter().all(|row| row[1] == 15.0));
    assert_eq!(rows(&link, "stops.csv"), [[10_000.0, 1_500.0]]);
}

#[test]
fn single_losses_are_a_rate_of_each_way() {
    let rtt_s = (0..1000)
        .map(|n| if n % 25 == 7 { f64::NAN } else { 0.05 })
        .collect();
    let link = played(&log(0.2, rtt_s), Unanswered::Lost);
    let loss = rows(&link, "delays.csv")[0][2];
    // Both ways together lose 4 %.
    assert!(((1.0 - loss) * (1.0 - loss) - 0.96).abs() < 1e-5, "{loss}");
}

#[test]
fn a_base_delay_that_changes_for_good_is_a_step() {
    let rtt_s = (0..600)
        .map(|n| if n < 300 { 0.04 } else { 0.09 })
        .collect();
    let events = Events::of(&log(0.2, rtt_s));
    // Among places that separate the two equally well the first is taken.
    assert!(
        matches!(events.steps[..], [298..=300]),
        "{:?}",
        events.steps
    );
    assert_eq!((events.usual_s[297], events.usual_s[300]), (0.04, 0.09));
    assert!(events.stops.is_empty() && events.gaps.is_empty());
}

/// Waits that fall evenly from a beacon's interval to nothing.
#[test]
fn a_radio_in_power_save_is_played_by_its_beacons() {
    let wait = |n: u32| 0.005 + 0.1024 * (1.0 - f64::from((n * 37) % 101) / 101.0);
    let log = log(0.2, (0..500).map(wait).collect());
    let events = Events::of(&log);
    assert_eq!(events.sleep_s, Some(0.1024));
    let rows = rows(&played(&log, Unanswered::Lost), "delays.csv");
    assert_eq!(rows[0][0], 0.0);
    assert!(
        rows[1][1] < rows[0][1] && rows[16][1] == rows[0][1],
        "{:?}",
        &rows[..17]
    );
}

/// A pause of the program for a minute is no part of the link.
#[test]
fn a_hole_in_the_log_is_left_out() {
    let mut log = log(0.2, vec![0.04; 200]);
    for time in &mut log.time_s[100..] {
        *time += 60.0;
    }
    let link = played(&log, Unanswered::Lost);
    assert!(link.toml.contains("every = \"40.000 s\""), "{}", link.toml);
}

use std::path::Path;

use airtcp_units::Duration;
use arrow_array::DictionaryArray;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt32Type};

use super::*;

mod aggregation;
mod controls;
mod datagrams;
mod fast_open;
mod latency;
mod links;
mod one_phase;
mod running;
mod selective_repeat;
mod under_load;
mod wireless;

/// Scenarios with the digests their runs must have, on every machine, in every build. The tests of
/// the Python package hold the released build to the same file.
const DIGESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/digests.json");

/// With this variable set, the file is written with the digests that the runs have. Every changed
/// line is a change of behaviour, to be explained in the commit that makes it.
const UPDATE: &str = "AIRTCP_UPDATE_DIGESTS";

#[derive(serde::Deserialize, serde::Serialize)]
struct Pinned {
    scenario: String,
    seed: u64,
    digest: String,
}

fn pinned() -> Vec<Pinned> {
    let text = std::fs::read_to_string(DIGESTS).expect("tests/digests.json can be read");
    serde_json::from_str(&text).expect("tests/digests.json is a list of pinned runs")
}

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "test", Path::new(".")).expect("a scenario")
}

fn summary(scenario: &Scenario, seed: u64) -> RunSummary {
    run(scenario, seed, &Observe::default(), &|_| true)
        .expect("a run")
        .summary
}

/// All differences are listed, so that one run shows which stacks a change has touched.
#[test]
fn digests_are_the_same_everywhere() {
    let mut runs = pinned();
    let mut different = String::new();
    for pinned in &mut runs {
        // A run that fails does not hide other changes.
        let run = || summary(&scenario(&pinned.scenario), pinned.seed).digest;
        let digest = std::panic::catch_unwind(run).unwrap_or_else(|_| "panicked".to_owned());
        if digest != pinned.digest {
            different += &format!("seed {}, {digest}:\n{}\n", pinned.seed, pinned.scenario);
            pinned.digest = digest;
        }
    }
    if std::env::var_os(UPDATE).is_some() {
        let text = serde_json::to_string_pretty(&runs).expect("text") + "\n";
        std::fs::write(DIGESTS, text).expect("tests/digests.json can be written");
        return;
    }
    assert!(
        different.is_empty(),
        "other digests than pinned; if that is meant, {UPDATE}=1 writes them:\n{different}"
    );
}

/// A sample of every topology: all digests are compared above.
#[test]
fn digests_are_the_same_for_any_number_of_threads() {
    let sample = || pinned().into_iter().take(12);
    let cells: Vec<_> = sample()
        .map(|pinned| (scenario(&pinned.scenario), pinned.seed))
        .collect();
    for threads in [1, 2, 3] {
        let results = run_many(&cells, threads, &|_, _| true);
        for (result, pinned) in results.into_iter().zip(sample()) {
            assert_eq!(
                result.expect("a run").summary.digest,
                pinned.digest,
                "{threads} threads"
            );
        }
    }
}

#[test]
fn other_seeds_meet_other_channels() {
    let scenario = scenario("duration = '5 s'\nlink.loss.rate = 0.02");
    assert_ne!(summary(&scenario, 1).digest, summary(&scenario, 2).digest);
}

/// If the window is always the limit, it does not matter how that is determined. A separate key
/// informs RFC 6582's impatient timer of the window that slow start loses at once.
#[test]
fn how_a_window_that_is_always_used_is_validated_does_not_matter() {
    let goodput = |validation: &str| {
        let text = format!(
            "duration = '40 s'\nlink.queue.packets = 300\n\
             tcp.profile = 'newreno'\ntcp.window_validation = '{validation}'"
        );
        let summary = summary(&scenario(&text), 1);
        summary.goodput_bps
    };
    let reference = goodput("in-flight");
    for validation in ["last-round", "always"] {
        let share = goodput(validation) / reference;
        assert!((share - 1.0).abs() < 0.01, "{validation}: {share}");
    }
}

#[test]
fn watching_changes_nothing() {
    let scenario = scenario("duration = '5 s'\nlink.loss.rate = 0.02");
    let folder = tempfile::tempdir().expect("a folder");
    let observe = Observe {
        probes: Probe::all().collect(),
        probe_interval: Some(Duration::from_millis(10)),
        events: true,
        air: true,
        rtts: true,
        packets: true,
        pings: true,
        pcap: Some(folder.path().join("run.pcapng")),
        qlog: Some(folder.path().join("run.sqlog")),
        replay: Some(folder.path().join("replay")),
    };
    let watched = run(&scenario, 1, &observe, &|_| true).expect("a run");
    assert_eq!(watched.summary, summary(&scenario, 1));
    assert_eq!(watched.samples.num_rows(), 500);
    assert!(watched.events.num_rows() > 0);
    for (file, least) in [
        ("run.pcapng", 10_000),
        ("run.sqlog", 10_000),
        ("replay/lost.csv", 50),
    ] {
        let bytes = folder.path().join(file).metadata().expect(file).len();
        assert!(bytes > least, "{file}: {bytes}");
    }
}

#[test]
fn a_recording_that_cannot_be_written_is_an_error_that_names_it() {
    let observe = Observe {
        pcap: Some("/nowhere/run.pcapng".into()),
        ..Observe::default()
    };
    let error = run(&scenario("duration = '1 s'"), 1, &observe, &|_| true).unwrap_err();
    assert!(error.to_string().contains("/nowhere/run.pcapng"), "{error}");
}

#[test]
fn whoever_listens_can_end_a_run() {
    let scenario = scenario("duration = '100 s'");
    let result = run(&scenario, 1, &Observe::default(), &|share| share < 0.1);
    assert!(matches!(result, Err(RunError::Interrupted)));
    let cells = vec![(scenario, 1), (self::scenario("duration = '1 s'"), 2)];
    let results = run_many(&cells, 1, &|_, _| false);
    assert!(
        results
            .iter()
            .any(|result| matches!(result, Err(RunError::Interrupted)))
    );
}

/// In 3000 s of virtual time, a thousandth has 15 million events: the callback is called far more
/// often than that.
#[test]
fn whoever_listens_to_a_long_run_does_not_wait() {
    let text = "duration = '3000 s'\nlink.rate = '10 Gbit/s'\nlink.delay = '1 ms'";
    let asked = std::cell::Cell::new(0);
    let result = run(&scenario(text), 1, &Observe::default(), &|share| {
        asked.set(asked.get() + 1);
        share < 0.001
    });
    assert!(matches!(result, Err(RunError::Interrupted)));
    assert!(asked.get() > 10, "asked {} times", asked.get());
}

/// By hand: 1 MB in 691 segments, each 1500 bytes on a link of 10 Mbit/s, takes 829 ms of the link;
/// the handshake and the last byte's path add three times 25 ms, and slow start from 10 segments
/// leaves the link idle for part of the first round trips.
#[test]
fn a_transfer_takes_as_long_as_its_bytes_and_its_round_trips() {
    let summary = summary(
        &scenario("duration = '60 s'\nflows.bytes = '1 MB'\nlink.queue.packets = 1000000"),
        1,
    );
    let flow = &summary.flows[0];
    assert_eq!(flow.delivery.delivered_bytes, 1_000_000);
    assert_eq!(
        flow.sending.segments_sent,
        691 + flow.sending.segments_retransmitted
    );
    let completed = flow.times.completed_s.expect("it completes");
    assert!((0.904..1.1).contains(&completed), "{completed} s");
}

/// Everything that goes in comes out or is counted lost: with a queue that never fills and no
/// losses on the link, nothing is ever sent twice.
#[test]
fn nothing_is_lost_where_nothing_can_be() {
    let text = "duration = '20 s'\nlink.queue.packets = 1000000\ntcp.max_window = 60";
    let summary = summary(&scenario(text), 1);
    let flow = &summary.flows[0];
    assert_eq!(
        (
            flow.sending.segments_retransmitted,
            flow.sending.timeouts,
            flow.sending.fast_retransmits
        ),
        (0, 0, 0)
    );
    // 1448 of every 1500 bytes on the link are payload.
    let share = flow.delivery.goodput_bps / (10e6 * 1448.0 / 1500.0);
    assert!((0.985..1.0).contains(&share), "{share}");
}

#[test]
fn flows_of_a_dumbbell_share_its_bottleneck() {
    let text = "duration = '60 s'\ntopology = 'dumbbell'\ntcp.profile = 'sack'\n\
                flows.count = 4\nflows.access_delay = ['5 ms']";
    let summary = summary(&scenario(text), 1);
    let capacity = 10e6 * 1448.0 / 1500.0;
    assert!(summary.goodput_bps > 0.95 * capacity && summary.goodput_bps < capacity);
    assert!(summary.fairness.expect("of four flows") > 0.9);
    for flow in &summary.flows {
        // 25 ms of the link and 5 ms of the access line, each way.
        assert!(flow.latency.min_rtt_ms.expect("a sample") >= 60.0);
    }
}

/// A timeout is spurious exactly where nothing is lost: a link that stops for a second fires the
/// timer, and every copy arrives.
#[test]
fn timeouts_without_loss_are_all_spurious() {
    let text = "duration = '60 s'\ntcp.profile = 'sack'\ntcp.max_window = 60\n\
                link.queue.packets = 1000000\n\
                link.stops = { every = '5 s', length = '1 s' }";
    let summary = summary(&scenario(text), 1);
    let flow = &summary.flows[0];
    assert!(flow.sending.timeouts >= 10, "{}", flow.sending.timeouts);
    assert_eq!(flow.sending.timeouts_spurious, flow.sending.timeouts);
}

/// Where all data arrives and most acknowledgments are lost, no longer timer would have helped:
/// each timeout in which one was to come after all is spurious, the others are counted apart.
#[test]
fn timeouts_without_acknowledgments_are_not_spurious() {
    let text = "duration = '600 s'\nlink.queue.packets = 1000000\ntcp.max_window = 4\n\
                link.reverse.loss.rate = 0.4";
    let flow = &summary(&scenario(text), 1).flows[0];
    let sending = &flow.sending;
    assert_eq!(flow.losses.segments_lost_link, 0);
    assert!(sending.timeouts > 20, "{}", sending.timeouts);
    let explained = sending.timeouts_spurious + sending.timeouts_acknowledgments_lost;
    assert!(sending.timeouts - explained <= 1, "{sending:?}");
    assert!(
        sending.timeouts_acknowledgments_lost > sending.timeouts_spurious,
        "{sending:?}"
    );
}

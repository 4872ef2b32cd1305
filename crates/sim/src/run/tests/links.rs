//! Links that stop, that reorder packets, and that mark them.

use airtcp_scenario::{Scenario, build};
use airtcp_units::Instant;

use super::*;
use crate::engine::{Digest, Simulation};

fn digest(scenario: &Scenario, layout: u64, channel: u64) -> Digest {
    let mut simulation = Simulation::new(build(scenario, layout), channel);
    simulation.run_until(Instant::ZERO + scenario.duration, &mut ());
    simulation.digest()
}

/// Random stops and losses, and the stops and losses of a run, written as files: the same run, even
/// if the channel draws from another seed. The scenario with another seed is another run.
#[test]
fn a_recorded_run_is_played_back() {
    for packets in ["wait", "held"] {
        let drawn = scenario(&format!(
            "duration = '40 s'\nflows.count = 2\ntcp.profile = 'linux'\n\
             link.rate = '6 Mbit/s'\nlink.reverse.rate = '1 Mbit/s'\nlink.queue.packets = 40\n\
             link.loss = {{ rate = 0.01, direction = 'both' }}\n\
             link.stops = {{ working = '1 s', length = '150 ms', packets = '{packets}' }}\n"
        ));
        let folder = tempfile::tempdir().expect("a folder");
        let observe = Observe {
            replay: Some(folder.path().to_path_buf()),
            ..Observe::default()
        };
        run(&drawn, 5, &observe, &|_| true).expect("a run");
        let rows = |name| {
            let text = std::fs::read_to_string(folder.path().join(name)).expect("a file");
            text.lines().count() - 1
        };
        assert!(rows("stops.csv") > 20, "{packets}: {}", rows("stops.csv"));
        assert!(rows("lost.csv") > 50, "{packets}: {}", rows("lost.csv"));
        assert!(rows("lost-acks.csv") > 20, "{packets}");

        let path = folder.path().join("scenario.toml");
        let recorded = Scenario::load(&path, &[]).expect("a scenario");
        assert_eq!(digest(&recorded, 5, 77), digest(&drawn, 5, 5), "{packets}");
        assert_ne!(digest(&drawn, 6, 6), digest(&drawn, 5, 5));
    }
}

/// Draws other than stops and losses come from the seed; files are found from another folder.
#[test]
fn a_recorded_run_keeps_its_other_draws() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("up.trace"), "1\n2\n5\n7\n").expect("a file");
    for (name, link) in [
        (
            "jitter",
            "link.jitter = { mean = '4 ms', order = 'in-order' }\n\
             link.late = { share = 0.01, by = '9 ms' }",
        ),
        (
            "trace",
            "link.trace = { up = 'up.trace', data = 'up' }\nlink.delay = '20 ms'",
        ),
    ] {
        let text = format!("duration = '20 s'\nlink.loss.rate = 0.02\n{link}\n");
        let drawn = Scenario::parse(&text, "test", folder.path()).expect("a scenario");
        let elsewhere = folder.path().join(name);
        let observe = Observe {
            replay: Some(elsewhere.clone()),
            ..Observe::default()
        };
        let first = run(&drawn, 3, &observe, &|_| true).expect("a run").summary;
        assert!(first.flows[0].losses.segments_lost_link > 3, "{name}");
        let recorded = Scenario::load(&elsewhere.join("scenario.toml"), &[]).expect("a scenario");
        assert_eq!(digest(&recorded, 3, 3), digest(&drawn, 3, 3), "{name}");
    }
}

/// If losses are indexed by transmission, nothing is run or written.
#[test]
fn a_run_that_cannot_be_played_back_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("replay");
    let observe = Observe {
        replay: Some(path.clone()),
        ..Observe::default()
    };
    let refused = run(&scenario("topology = 'wlan'"), 1, &observe, &|_| true);
    let error = refused.expect_err("a refusal").to_string();
    assert!(
        error.contains("only the losses and stops of a [link]"),
        "{error}"
    );
    assert!(!path.exists());
}

/// With marks a queue under CoDel loses nothing, and the window is reduced nevertheless; without
/// them it drops. Either way packets wait for less time than in an unmanaged queue.
#[test]
fn marks_take_the_place_of_drops() {
    for discipline in ["codel", "fq-codel"] {
        let text = |aqm: &str, ecn: &str| {
            scenario(&format!(
                "duration = '30 s'\nlink.queue.packets = 1000\ntcp.profile = 'linux-reno'\n\
                 {aqm}tcp.ecn = '{ecn}'\ntcp.initial_ssthresh = '100 kB'\n"
            ))
        };
        let aqm = format!("link.aqm = {{ discipline = '{discipline}', ecn = true }}\n");
        let run = |scenario: &Scenario| {
            let mut network = Simulation::new(build(scenario, 1), 1);
            network.run_until(Instant::ZERO + scenario.duration, &mut ());
            let reductions = network.flows()[0].client().sender().reductions_for_marks();
            (summary(scenario, 1), reductions)
        };
        let (alone, _) = run(&text("", "accept"));
        let (dropping, none) = run(&text(&aqm, "accept"));
        let (marking, reductions) = run(&text(&aqm, "request"));
        assert_eq!(none, 0, "nobody asked");
        assert!(dropping.flows[0].losses.segments_dropped_queue > 3);
        assert!(reductions > 3, "{reductions}");
        assert_eq!(marking.flows[0].losses.segments_dropped_queue, 0);
        assert_eq!(marking.flows[0].sending.segments_retransmitted, 0);
        for run in [&dropping, &marking] {
            // 10 Mbit/s; headers take 52 bytes of 1500.
            assert!(
                run.goodput_bps > 0.75 * 9.65e6,
                "{discipline}: {}",
                run.goodput_bps
            );
            let [ours, other] =
                [run, &alone].map(|run| run.flows[0].at_end.srtt_ms.expect("a sample"));
            assert!(
                ours < 90.0 && other > 200.0,
                "{discipline}: {ours} and {other} ms"
            );
        }
    }
}

/// Late packets are overtaken, and no packet is lost: every retransmission is a duplicate at the
/// receiver, except retransmissions in flight when the run ends.
#[test]
fn late_packets_are_reordering() {
    let text = "duration = '20 s'\ntcp.profile = 'sack'\ntcp.max_window = 60\n\
                link.late = { share = 0.02, by = '8 ms' }\nlink.queue.packets = 1000\n";
    let flow = summary(&scenario(text), 1).flows.remove(0);
    assert_eq!(
        flow.losses.segments_lost_link + flow.losses.segments_dropped_queue,
        0
    );
    assert!(
        flow.sending.segments_retransmitted > 20,
        "{}",
        flow.sending.segments_retransmitted
    );
    let others = flow
        .sending
        .segments_retransmitted
        .abs_diff(flow.losses.duplicate_segments_received);
    assert!(
        others <= 2,
        "{others} of {}",
        flow.sending.segments_retransmitted
    );
}

/// Linux learns from the first late segment: the kernel 6.18 over the same link with these seeds
/// retransmitted 12, 13 and 24 segments, most of them when slow start overflowed the queue, and
/// undid one recovery.
#[test]
fn linux_waits_for_late_packets_once_it_has_seen_one() {
    let text = "duration = '20 s'\ntcp.profile = 'linux'\n\
                link.late = { share = 0.02, by = '8 ms' }\nlink.queue.packets = 100\n";
    for seed in 1..=3 {
        let sending = summary(&scenario(text), seed).flows.remove(0).sending;
        let (resent, undone) = (
            sending.segments_retransmitted,
            sending.recoveries_taken_back,
        );
        assert!(
            resent <= 50 && undone <= 3,
            "seed {seed}: {resent}, {undone} taken back"
        );
    }
}

/// A recorded delay and loss: 10 ms without loss, then 60 ms and one packet in twenty.
#[test]
fn a_recording_has_its_own_delay_and_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "time_ms,delay_ms,loss\n0,10,0\n10000,60,0.05\n";
    std::fs::write(folder.path().join("link.csv"), rows).expect("a file");
    let of = |seconds: u32| {
        let text = format!(
            "duration = '{seconds} s'\ntcp.profile = 'sack'\nlink.recorded.path = 'link.csv'\n\
             tcp.max_window = 10\n"
        );
        let scenario = Scenario::parse(&text, "test", folder.path()).expect("a scenario");
        summary(&scenario, 1)
    };
    let (before, after) = (of(10), of(40));
    assert_eq!(before.flows[0].losses.segments_lost_link, 0);
    // 10 ms each way, plus the time to send two segments of 1500 bytes, the second being answered,
    // and the answer of 40.
    let shortest = before.flows[0].latency.min_rtt_ms.unwrap();
    assert!((22.4..22.5).contains(&shortest), "{shortest} ms");
    let sent = after.flows[0].sending.segments_sent - before.flows[0].sending.segments_sent;
    let share = after.flows[0].losses.segments_lost_link as f64 / sent as f64;
    // Within 4.5 standard errors.
    let error = (0.05 * 0.95 / sent as f64).sqrt();
    assert!((share - 0.05).abs() < 4.5 * error, "{share} of {sent}");
    assert!(after.flows[0].at_end.srtt_ms.unwrap() > 110.0);
}

/// Linux 6.18 over the same link, emulated: 18, 18 and 17 retransmissions with seeds 1, 2 and 5, a
/// third of them of losses. After a needless timeout data that was merely late is not
/// retransmitted; when the answer to the original was taken for one to the copy, the total was 94.
#[test]
fn over_recorded_round_trips_linux_retransmits_as_often_as_the_kernel() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/ping.toml");
    let settings = [
        ("tcp.profile", "linux"),
        ("tcp.max_window", "unlimited"),
        ("link.loss.rate", "0.01"),
        ("duration", "8 s"),
    ];
    let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let scenario = Scenario::load(Path::new(file), &settings).expect("a scenario");
    let retransmitted: Vec<u64> = [1, 2, 5]
        .iter()
        .map(|&seed| {
            summary(&scenario, seed).flows[0]
                .sending
                .segments_retransmitted
        })
        .collect();
    let (all, kernel) = (retransmitted.iter().sum::<u64>() as f64, 18.0 + 18.0 + 17.0);
    // Two counts differ by chance by the square root of their sum; three times that is no chance.
    let chance = (all + kernel).sqrt();
    assert!((all - kernel).abs() < 3.0 * chance, "{retransmitted:?}");
}

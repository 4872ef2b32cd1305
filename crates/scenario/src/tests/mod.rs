mod aggregation;
mod alternatives;
mod errors;
mod files;
mod keys;
mod link;
mod perturbation;
mod renamed;
mod retry_limits;
mod round_trip;
mod shipped;
mod tcp_keys;

use std::path::Path;

use airtcp_link::{
    Delay, DeliveryOrder, ErrorModel, PipeConfig, PolicerConfig, QueueLimit, Service, Stops,
};
use airtcp_tcp::Profile;
use airtcp_tcp::config::{Recovery, Retransmission, TimerScope};
use airtcp_units::{BitRate, Probability};

use super::*;

/// Both directions of a pipe.
fn pipe(scenario: &Scenario) -> (&PipeConfig, &PipeConfig) {
    match &scenario.link {
        Link::Pipe { data, acks } => (data, acks),
        other => panic!("no pipe: {other:?}"),
    }
}

fn parsed(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml", Path::new("")).unwrap_or_else(|error| panic!("{error}"))
}

/// A folder with `down` and `up` traces and a ping log.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lte.down"), "1\n1\n4\n9\n").unwrap();
    std::fs::write(folder.path().join("lte.up"), "2\n8\n").unwrap();
    std::fs::write(folder.path().join("rtt.csv"), "rtt_ms\n50\n61.5\n").unwrap();
    let files = [
        ("stops.csv", "start_ms,length_ms\n5,2.5\n10,1\n"),
        ("lost.csv", "packet\n3\n8\n"),
        ("link.csv", "time_ms,delay_ms,loss\n0,10,0.1\n500,20,0\n"),
        ("light", "0 20 0 1 1\n100 21 0\n200 20 0 2\n"),
        ("calm.csv", "time_ms,delay_ms,loss\n0,10,0\n"),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let object = include_bytes!("../../../../fuzz/seeds/bpf/veno.bpf.o");
    std::fs::write(folder.path().join("veno.bpf.o"), object).unwrap();
    folder
}

#[test]
fn an_empty_scenario_is_the_lossy_pipe_without_loss() {
    let scenario = parsed("");
    assert_eq!(scenario.name, "test");
    assert_eq!(scenario.topology, Topology::Pipe);
    assert_eq!(scenario.duration, Duration::from_secs(60));
    for direction in [pipe(&scenario).0, pipe(&scenario).1] {
        assert!(
            matches!(direction.service, Service::Constant(rate) if rate.as_bps() == 10_000_000)
        );
        assert_eq!(direction.queue, QueueLimit::Packets(100));
        assert_eq!(direction.error, ErrorModel::None);
        assert!(
            matches!(direction.delay, Delay::Constant(delay) if delay.as_nanos() == 25_000_000)
        );
    }
    assert_eq!(scenario.flows.count, 1);
    assert_eq!(scenario.flows.bytes, None);
    assert_eq!(scenario.tcp, Profile::Linux.config());
    assert!(scenario.remedies.is_empty());
}

#[test]
fn every_profile_is_what_the_endpoint_says_it_is() {
    for profile in Profile::ALL {
        let text = format!("tcp.profile = {:?}", profile.name());
        assert_eq!(parsed(&text).tcp, profile.config(), "{}", profile.name());
    }
}

/// ns-2's first threshold is its default window, 20 segments, whatever a segment holds
/// (`ns-default.tcl`: `window_ 20`; `TcpAgent::reset`: `ssthresh_ = int(wnd_)`).
#[test]
fn the_first_threshold_of_ns_2_is_of_segments() {
    for (settings, bytes) in [
        ("", Some(20_000)),
        ("mss = 512", Some(10_240)),
        ("mss = 1460\nmax_window = 200", Some(29_200)),
        ("mss = 512\ninitial_ssthresh = '4 kB'", Some(4_000)),
        ("mss = 512\ninitial_ssthresh = 'unlimited'", None),
    ] {
        let text = format!("[tcp]\nprofile = 'ns2-newreno'\n{settings}");
        assert_eq!(parsed(&text).tcp.initial_ssthresh, bytes, "{settings}");
    }
}

#[test]
fn every_tcp_key_reaches_the_endpoint() {
    let tcp = parsed(
        r#"
        [tcp]
        profile = "sack"
        congestion_control = "cubic"
        slow_start = "hystart++"
        loss_detection = "rack"
        tail_loss_probe = true
        reduction = "proportional"
        reduction_base = "window"
        window_validation = "last-round"
        restart_after_idle = true
        nagle = true
        pacing = true
        eifel = true
        f_rto = true
        dsack_undo = true
        spurious_response = "restore"
        rtt_estimation = "linux"
        recovery = "reno"
        sack = true
        dsack = false
        timestamps = false
        timestamp_tick = "10 ms"
        mss = 536
        initial_window = 2
        initial_ssthresh = "64 kB"
        max_window = 20
        receive_buffer = "1 MiB"
        receive_window = "autotuned"
        pacing_shift = 7
        small_queue = true
        duplicate_ack_threshold = 5
        limited_transmit = false
        retransmission = "selective-repeat"
        timer = "connection"
        window_growth = "acknowledgments"
        slow_start_limit = 1
        min_rto = "1 s"
        max_rto = "30 s"
        initial_rto = "3 s"
        rto_factor = 10
        rto_granularity = "100 ms"
        rto_ack_delay = "25 ms"
        rto_back_off = false
        rtt_sampling = "per-window"
        deviation_from = "updated-mean"
        rtt_mean_gain = 0.0625
        rtt_deviation_gain = 0.5
        [tcp.delayed_ack]
        segments = 1
        timeout = "200 ms"
        quick = 16
        most_a_round_trip = 4
        on_reading = true
        compressed = true
        fin_at_once = false
        [tcp.quirks]
        timestamps_required = false
        push = "trains"
        short_trains = "deferred"
        handshake_ack = "alone"
        repeated_syn = "by-echo"
        duplicate_counting = "arrivals"
        "#,
    )
    .tcp;
    insta::assert_debug_snapshot!(tcp);
}

/// A flow's own table overrides `[tcp]`, and remedies override both.
#[test]
fn flows_may_have_a_table_of_their_own_in_turn() {
    let text = r#"
        remedies = ["rto-factor:factor=10"]
        flows.count = 3
        flows.tcp = [
            { profile = "linux" },
            { mss = 600, sack = false, delayed_ack = { segments = 1 } },
        ]
        [tcp]
        profile = "sack"
        mss = 500
        delayed_ack = { timeout = "20 ms" }
        "#;
    let scenario = parsed(text);
    let [linux, small, again] = [0, 1, 2].map(|flow| scenario.tcp_of(flow));
    assert_eq!(linux, again);
    assert_eq!((linux.mss, small.mss), (500, 600));
    assert_eq!((linux.congestion, small.congestion), {
        use airtcp_tcp::config::CongestionControl;
        (CongestionControl::Cubic, CongestionControl::Reno)
    });
    assert_eq!((linux.sack, small.sack), (true, false));
    for own in [linux, small] {
        assert_eq!(own.timeout.factor, 10.0);
        assert_eq!(own.delayed_ack.timeout, Duration::from_millis(20));
    }
    assert_eq!(small.delayed_ack.segments, 1);
    // The written scenario survives a round trip.
    let written = scenario.to_toml();
    let read = parsed(&written);
    assert_eq!(read.flow_tcp, scenario.flow_tcp);
    assert_eq!(read.to_toml(), written);
}

/// Remedies of the endpoints apply to all flows but the unchanged ones.
#[test]
fn flows_may_be_kept_from_remedies() {
    let text = r#"
        topology = "pipe"
        remedies = ["rto-factor:factor=10", "freeze-tcp"]
        flows = { count = 3, unchanged = 1 }
        link.stops = { every = "2 s", length = "1 s" }
        "#;
    let scenario = parsed(text);
    let factors = [0, 1, 2].map(|flow| scenario.tcp_of(flow).timeout.factor);
    assert_eq!(factors, [10.0, 10.0, 4.0]);
    let flows = build(&scenario, 1).flows;
    let frozen: Vec<bool> = flows.iter().map(|flow| flow.freeze.is_some()).collect();
    assert_eq!(frozen, [true, true, false]);
    assert_eq!(flows[2].tcp.timeout.factor, 4.0);
    assert_eq!(parsed(&scenario.to_toml()).to_toml(), scenario.to_toml());
    let refused = Scenario::parse("flows.unchanged = 2", "x.toml", Path::new("."));
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("expected at most flows.count, which is 1"),
        "{message}"
    );
}

/// A single flow gets a second with the same path and the same TCP; of several the last is kept.
#[test]
fn a_scenario_gets_an_unchanged_competing_flow() {
    let text = r#"
        topology = "dumbbell"
        [flows]
        direction = ["up", "down"]
        access_delay = ["1 ms", "5 ms"]
        tcp = [{ profile = "linux" }, { profile = "newreno" }]
        "#;
    let competing = parsed(text).with_unchanged_flow().unwrap();
    let flows = &competing.flows;
    assert_eq!((flows.count, flows.unchanged), (2, 1));
    assert_eq!(flows.direction_of(0), flows.direction_of(1));
    assert_eq!(flows.access_delay_of(0), flows.access_delay_of(1));
    assert_eq!(competing.tcp_of(0), competing.tcp_of(1));
    assert_eq!(flows.start_spread, Duration::from_secs(1));
    let treated = competing.with_remedies("rto-factor:factor=10").unwrap();
    assert_eq!(treated.tcp_of(1), competing.tcp_of(1));
    assert_eq!(treated.tcp_of(0).timeout.factor, 10.0);

    let several = parsed("flows = { count = 5, start_spread = \"2 s\" }");
    let competing = several.with_unchanged_flow().unwrap();
    assert_eq!((competing.flows.count, competing.flows.unchanged), (5, 1));
    assert_eq!(competing.flows.start_spread, Duration::from_secs(2));
}

#[test]
fn settings_replace_keys_and_make_tables() {
    let set = |pairs: &[(&str, &str)]| {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        Scenario::with_settings("tcp.mss = 1000", "t", Path::new(""), &pairs).unwrap()
    };
    let scenario = set(&[
        ("duration", "5 s"),
        ("link.rate", "2 Mbit/s"),
        ("link.loss.rate", "0.02"),
        ("tcp.mss", "500"),
        ("tcp.sack", "true"),
        ("tcp.retransmission", "selective-repeat"),
        ("tcp.delayed_ack.segments", "1"),
        ("remedies", "[\"rto-factor:factor=5\"]"),
        ("tcp.mss", "600"),
    ]);
    assert_eq!(scenario.duration, Duration::from_secs(5));
    assert_eq!(scenario.tcp.mss, 600, "the last one counts");
    assert!(scenario.tcp.sack);
    assert_eq!(scenario.tcp.delayed_ack.segments, 1);
    assert_eq!(scenario.tcp.timeout.factor, 5.0);
    assert_eq!(scenario.tcp.retransmission, Retransmission::SelectiveRepeat);
    assert!(
        matches!(pipe(&scenario).0.service, Service::Constant(rate) if rate.as_bps() == 2_000_000)
    );
}

#[test]
fn remedies_come_on_top() {
    let scenario = parsed("remedies = [\"rto-factor\"]\ntcp.rto_factor = 3");
    assert_eq!(scenario.tcp.timeout.factor, 10.0);
    let more = scenario
        .with_remedies("tahoe + selective-repeat+queue:packets=7")
        .unwrap();
    assert_eq!(more.tcp.recovery, Recovery::Tahoe);
    assert_eq!(more.tcp.timeout.factor, 10.0);
    assert_eq!(pipe(&more).0.queue, QueueLimit::Packets(7));
    assert_eq!(pipe(&more).1.queue, QueueLimit::Packets(100));
    assert_eq!(
        more.remedies.to_string(),
        "rto-factor:factor=10+tahoe+selective-repeat+queue:packets=7"
    );
    assert_eq!(
        scenario.with_remedies("").unwrap().to_toml(),
        scenario.to_toml()
    );
    let error = more.with_remedies("newreno").unwrap_err().to_string();
    assert_eq!(
        error,
        "scenario \"test.toml\": remedies: remedies \"tahoe\" and \"newreno\" both decide how \
         losses are repaired; give one of them"
    );
    let error = parsed("")
        .with_remedies("rto-facto")
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("did you mean \"rto-factor\"?"), "{error}");
    let error = parsed("tcp.max_rto = \"5 s\"")
        .with_remedies("min-rto:min=9 s")
        .unwrap_err();
    assert!(
        error.to_string().contains("tcp.max_rto: expected at least"),
        "{error}"
    );
}

#[test]
fn timers_follow_the_policy_that_a_remedy_chooses() {
    assert_eq!(
        parsed("")
            .with_remedies("selective-repeat")
            .unwrap()
            .tcp
            .timeout
            .scope,
        None
    );
    let fixed = parsed("tcp.timer = \"segment\"")
        .with_remedies("go-back-n")
        .unwrap();
    assert_eq!(fixed.tcp.timeout.scope, Some(TimerScope::Segment));
}

#[test]
fn a_timer_for_each_segment_under_go_back_n_gets_a_warning() {
    let bare = parsed("tcp.timer = \"segment\"");
    let [warning] = &bare.warnings()[..] else {
        panic!("one warning: {:?}", bare.warnings())
    };
    assert!(warning.contains("trace-N-retransmit"), "{warning}");
    let repeat = "tcp.timer = \"segment\"\ntcp.retransmission = \"selective-repeat\"";
    assert!(parsed(repeat).warnings().is_empty());
    let treated = parsed(repeat).with_remedies("go-back-n").unwrap();
    assert!(treated.warnings().is_empty(), "the remedy is meant");
}

#[test]
fn a_low_ceiling_lowers_the_first_timeout() {
    let timeout = parsed("tcp.max_rto = \"500 ms\"").tcp.timeout;
    assert_eq!(timeout.initial, Duration::from_millis(500));
}

#[test]
fn the_hash_is_of_what_a_scenario_says() {
    let folder = folder();
    let parse = |text: &str| Scenario::parse(text, "t", folder.path()).unwrap().hash();
    assert_eq!(
        parse(""),
        parse("# a comment\nlink.rate = \"10000 kbit/s\"")
    );
    assert_ne!(parse(""), parse("link.rate = \"9 Mbit/s\""));
    assert_ne!(parse(""), parse("remedies = [\"sack\"]"));
    let before = parse("link.trace.down = \"lte.down\"");
    std::fs::copy(folder.path().join("lte.down"), folder.path().join("moved")).unwrap();
    assert_eq!(
        parse("link.trace.down = \"moved\""),
        before,
        "where a file lies does not count"
    );
    std::fs::write(folder.path().join("lte.down"), "1\n2\n").unwrap();
    assert_ne!(
        parse("link.trace.down = \"lte.down\""),
        before,
        "what it holds does"
    );
    // Known once: it must not change from one machine or build to the next.
    insta::assert_snapshot!(parse(""));
}

#[test]
fn files_are_read_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.toml");
    std::fs::write(&path, vec![b'#'; MAX_BYTES as usize + 1]).unwrap();
    let error = Scenario::load(&path, &[]).unwrap_err().to_string();
    assert!(error.contains("larger than 1 MiB"), "{error}");
    std::fs::write(&path, b"name = \"\xff\"").unwrap();
    let error = Scenario::load(&path, &[]).unwrap_err().to_string();
    assert!(error.contains("is no text (UTF-8)"), "{error}");
    let error = Scenario::load(&folder.path().join("none.toml"), &[])
        .unwrap_err()
        .to_string();
    assert!(error.contains("none.toml\": cannot be read"), "{error}");
    std::fs::write(&path, "duration = \"2 s\"").unwrap();
    assert_eq!(Scenario::load(&path, &[]).unwrap().name, "big");
    let text = " ".repeat(MAX_BYTES as usize + 1);
    assert!(Scenario::parse(&text, "t", Path::new("")).is_err());
}

//! `[link]`: both directions of a link.

use super::*;

#[test]
fn a_direction_loses_what_it_is_told_to() {
    let direction = |text: &str| {
        let scenario = parsed(text);
        let (data, acks) = pipe(&scenario);
        (data.error.clone(), acks.error.clone())
    };
    let tenth = || ErrorModel::Independent(Probability::new(0.1).unwrap());
    let none = || ErrorModel::None;
    assert_eq!(direction("link.loss.rate = 0.1"), (tenth(), none()));
    assert_eq!(direction("link.loss.rate = \"10 %\""), (tenth(), none()));
    assert_eq!(
        direction("link.loss = { rate = 0.1, direction = \"acks\" }"),
        (none(), tenth())
    );
    assert_eq!(
        direction("link.loss = { rate = 0.1, direction = \"both\" }"),
        (tenth(), tenth())
    );
    assert_eq!(direction("link.reverse.loss.rate = 0.1"), (none(), tenth()));
    let block = ErrorModel::Block {
        period: 100,
        lost: 5,
    };
    assert_eq!(
        direction("link.loss = { model = \"block\", lost = 5 }"),
        (block, none())
    );
    let bits = ErrorModel::BitErrors(Probability::new(1e-6).unwrap());
    assert_eq!(
        direction("link.loss = { model = \"bit-error\", rate = 1e-6 }"),
        (bits, none())
    );
}

#[test]
fn the_reverse_direction_is_the_same_unless_told_otherwise() {
    let scenario = parsed(
        "[link]\nrate = \"1 Mbit/s\"\nqueue.bytes = \"9 kB\"\n[link.reverse]\ndelay = \"1 ms\"",
    );
    let megabit = BitRate::from_bps(1_000_000);
    assert!(matches!(pipe(&scenario).1.service, Service::Constant(rate) if rate == megabit));
    assert_eq!(pipe(&scenario).1.queue, QueueLimit::Bytes(9000));
    assert!(
        matches!(pipe(&scenario).1.delay, Delay::Constant(delay) if delay.as_nanos() == 1_000_000)
    );
    assert!(
        matches!(pipe(&scenario).0.delay, Delay::Constant(delay) if delay.as_nanos() == 25_000_000)
    );
}

#[test]
fn a_policer_stands_in_the_direction_of_data() {
    let scenario = parsed("link.policer = { rate = \"8 Mbit/s\", burst = \"60 kB\" }");
    let (data, acks) = pipe(&scenario);
    let expected = PolicerConfig {
        rate: BitRate::from_bps(8_000_000),
        burst: 60_000,
    };
    assert_eq!(data.policer, Some(expected));
    assert_eq!(acks.policer, None);
}

#[test]
fn a_suspended_link_stops_both_ways() {
    let scenario =
        parsed("link.stops = { process = \"periodic\", every = \"5 s\", length = \"300 ms\" }");
    for direction in [pipe(&scenario).0, pipe(&scenario).1] {
        assert!(matches!(
            direction.service,
            Service::Suspended { stops: Stops::Periodic { every, length }, .. }
                if every == Duration::from_secs(5) && length == Duration::from_millis(300)
        ));
    }
}

#[test]
fn recorded_links_take_the_direction_of_the_data() {
    let folder = folder();
    let parse = |text: &str| Scenario::parse(text, "t", folder.path()).unwrap();
    let down = parse("link.trace = { down = \"lte.down\", up = \"lte.up\" }");
    let up = parse("link.trace = { down = \"lte.down\", up = \"lte.up\", data = \"up\" }");
    let period = |service: &Service| match service {
        Service::Mahimahi(trace) => trace.period_ms(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (
            period(&pipe(&down).0.service),
            period(&pipe(&down).1.service)
        ),
        (9, 8)
    );
    assert_eq!(
        (period(&pipe(&up).0.service), period(&pipe(&up).1.service)),
        (8, 9)
    );
    let one = parse("link.trace = { down = \"lte.down\", light.down = \"light\" }");
    assert!(matches!(
        pipe(&one).0.service,
        Service::LoadDependent { .. }
    ));
    let one = parse("link.trace.down = \"lte.down\"");
    assert!(matches!(pipe(&one).1.service, Service::Unlimited));
}

#[test]
fn recorded_round_trips_lie_on_the_data_direction() {
    let folder = folder();
    let text = "link.rtt_log = { path = \"rtt.csv\", order = \"reorder\" }\nlink.loss.rate = 0.1";
    let scenario = Scenario::parse(text, "t", folder.path()).unwrap();
    assert!(matches!(
        &pipe(&scenario).0.delay,
        Delay::Recorded { series, order: DeliveryOrder::Reorder, .. }
            if series.as_slice()[1] == Duration::from_micros(61_500)
    ));
    assert!(matches!(
        pipe(&scenario).0.error,
        ErrorModel::Independent(_)
    ));
    assert!(matches!(
        pipe(&scenario).1.delay,
        Delay::Constant(Duration::ZERO)
    ));
    assert!(matches!(pipe(&scenario).1.service, Service::Unlimited));
}

#[test]
fn access_lines_are_used_in_turn() {
    let text = "topology = \"dumbbell\"\n[flows]\ncount = 3\naccess_delay = [\"1 ms\", \"2 ms\"]";
    let flows = parsed(text).flows;
    let delays = [0, 1, 2].map(|flow| flows.access_delay_of(flow).as_nanos() / 1_000_000);
    assert_eq!(delays, [1, 2, 1]);
    assert_eq!(parsed("").flows.access_delay_of(7), Duration::ZERO);
}

/// Half of the round trips are under 1 ms: a wire's, limited to 100 Mbit/s instead of the rate that
/// the window allows.
#[test]
fn a_log_of_a_wire_is_bounded_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let read = |times: &str| {
        std::fs::write(folder.path().join("rtt.csv"), format!("rtt_ms\n{times}")).unwrap();
        Scenario::parse("link.rtt_log.path = \"rtt.csv\"", "x.toml", folder.path()).unwrap()
    };
    let fast = read("0.02\n0.03\n40\n");
    let wire = BitRate::from_bps(100_000_000);
    assert!(matches!(pipe(&fast).0.service, Service::Constant(rate) if rate == wire));
    let [warning] = &fast.warnings()[..] else {
        panic!("one warning")
    };
    assert!(
        warning.contains("the median round trip is 30 us"),
        "{warning}"
    );
    assert!(warning.contains("at most 100 Mbit/s"), "{warning}");
    let radio = read("0.02\n1.5\n40\n");
    assert!(matches!(pipe(&radio).0.service, Service::Unlimited));
    assert!(radio.warnings().is_empty());
}

/// One of four probes got no answer; an explicit loss table takes precedence.
#[test]
fn unanswered_probes_are_the_loss_of_a_log() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rtt.csv"), "rtt_ms\n20\n\"\"\n30\n40\n").unwrap();
    let error = |more: &str| {
        let text = format!("link.rtt_log.path = \"rtt.csv\"\n{more}");
        let scenario = Scenario::parse(&text, "x.toml", folder.path()).unwrap();
        pipe(&scenario).0.error.clone()
    };
    let quarter = Probability::new(0.25).unwrap();
    assert_eq!(error(""), ErrorModel::Independent(quarter));
    assert_eq!(error("link.loss.rate = 0"), ErrorModel::None);
    let listed = error("link.loss = { model = \"block\", lost = 1, of = 9 }");
    assert_eq!(listed, ErrorModel::Block { period: 9, lost: 1 });
}

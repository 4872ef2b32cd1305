use std::num::NonZeroU32;

use airtcp_link::frame::RetryLimit;
use airtcp_tcp::config::Retransmission;
use airtcp_tcp::{Config, Profile};
use airtcp_units::Duration;
use proptest::prelude::*;

use super::*;
use crate::MediumChange;

fn applied(text: &str) -> (Config, Vec<LinkChange>) {
    let mut tcp = Config::default();
    let link = parse(text).unwrap().apply(&mut tcp);
    (tcp, link)
}

#[test]
fn nothing_chosen_changes_nothing() {
    assert!(parse(" ").unwrap().is_empty());
    assert_eq!(applied("").0, Config::default());
}

#[test]
fn values_reach_the_configuration() {
    let (tcp, link) = applied(
        "rto-factor:factor=12.5 + selective-repeat+min-rto:min=50 ms\
         +delayed-ack:segments=3,timeout=100ms+queue:packets=7",
    );
    assert_eq!(tcp.timeout.factor, 12.5);
    assert_eq!(tcp.retransmission, Retransmission::SelectiveRepeat);
    assert_eq!(tcp.timeout.min, Duration::from_millis(50));
    assert_eq!(tcp.delayed_ack.segments, 3);
    assert_eq!(tcp.delayed_ack.timeout, Duration::from_millis(100));
    assert_eq!(link, [LinkChange::Medium(MediumChange::Queue(7))]);
}

/// A limit is a number of attempts or unlimited, and is written back as such.
#[test]
fn a_retry_limit_is_a_number_or_none() {
    let attempts = |count| RetryLimit::Attempts(NonZeroU32::new(count).unwrap());
    for (text, limit, written) in [
        (
            "inf-retry",
            RetryLimit::Unlimited,
            "inf-retry:attempts=unlimited",
        ),
        (
            "inf-retry:attempts=unlimited",
            RetryLimit::Unlimited,
            "inf-retry:attempts=unlimited",
        ),
        ("inf-retry:attempts=7", attempts(7), "inf-retry:attempts=7"),
        (
            "inf-retry:attempts=1000000",
            attempts(1_000_000),
            "inf-retry:attempts=1000000",
        ),
        ("delay-injection", RetryLimit::Unlimited, "delay-injection"),
    ] {
        let change = LinkChange::Medium(MediumChange::MobileAttempts(limit));
        assert!(applied(text).1.contains(&change), "{text}");
        let all = parse(text).unwrap().as_slice()[0].to_string();
        assert!(all.starts_with(written), "{all}");
    }
    for text in ["0", "-1", "many", "Unlimited", "1.5", "4294967296"] {
        let error = parse(&format!("inf-retry:attempts={text}")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("expected a whole number or \"unlimited\" from 1 to unlimited"),
            "{error}"
        );
    }
}

#[test]
fn loss_repair_comes_from_the_profile_of_that_name() {
    for profile in [
        Profile::Tahoe,
        Profile::Reno,
        Profile::NewReno,
        Profile::Sack,
    ] {
        let (tcp, _) = applied(profile.name());
        assert_eq!(tcp.recovery, profile.config().recovery);
        assert_eq!(tcp.sack, profile.config().sack);
    }
}

#[test]
fn every_remedy_can_be_applied_at_its_bounds_and_changes_something() {
    for remedy in catalogue() {
        let mut outcomes = Vec::new();
        let bounds: [fn(&Parameter) -> Quantity; 3] =
            [|one| one.minimum, |one| one.default, |one| one.maximum];
        for pick in bounds {
            let quantities = remedy.parameters.iter().map(pick).collect();
            let selection = Selection(vec![ConfiguredRemedy { remedy, quantities }]);
            let mut tcp = Config {
                sack: true,
                ..Config::default()
            };
            tcp.retransmission = Retransmission::SelectiveRepeat;
            let link = selection.apply(&mut tcp);
            outcomes.push((tcp, link));
            assert_eq!(parse(&selection.to_string()).unwrap(), selection);
        }
        let values_matter = remedy.parameters.is_empty() || outcomes[0] != outcomes[2];
        assert!(values_matter, "{}: its bounds do the same", remedy.name);
    }
}

/// A parameter with a key sets it to what a scenario file would, and leaves the others as they are.
#[test]
fn a_parameter_is_its_key() {
    let parameters = catalogue().iter().flat_map(|remedy| remedy.parameters);
    let mut keys = Vec::new();
    for parameter in parameters {
        let Some(key) = parameter.key else { continue };
        keys.push(key.name);
        for quantity in [parameter.minimum, parameter.default, parameter.maximum] {
            let mut set = TcpTable::default();
            (key.set)(&mut set, quantity);
            let switch = serde_json::json!(quantity == Quantity::Count(1));
            let read = [serde_json::json!(quantity), switch]
                .into_iter()
                .find_map(|value| {
                    let steps = key.name.rsplit('.');
                    let table = steps.fold(value, |inner, key| serde_json::json!({ key: inner }));
                    serde_json::from_value(table).ok()
                });
            assert_eq!(read, Some(set), "{} = {quantity}", key.name);
        }
    }
    assert!(keys.contains(&"rto_factor") && keys.contains(&"delayed_ack.segments"));
    for profile in Profile::ALL {
        let config = profile.config();
        assert_eq!(TcpTable::default().settings(&config), config);
    }
}

#[test]
fn catalogue_is_in_order() {
    let names: Vec<_> = catalogue().iter().map(|remedy| remedy.name).collect();
    for (position, remedy) in catalogue().iter().enumerate() {
        let name = remedy.name;
        assert!(!names[..position].contains(&name), "{name} twice");
        assert!(
            name.chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{name}"
        );
        for text in [
            remedy.effect,
            remedy.source,
            &remedy.deployment_text(),
            remedy.decides,
        ] {
            assert!(
                !text.is_empty() && !text.contains("  ") && !text.contains('\n'),
                "{name}"
            );
        }
        for one in remedy.parameters {
            assert!(
                one.default.is_within(one.minimum, one.maximum),
                "{name}: {}",
                one.name
            );
        }
    }
    assert!(
        catalogue().is_sorted_by_key(|remedy| remedy.place),
        "by place"
    );
}

#[test]
fn errors_say_what_to_do() {
    let errors: String = [
        "rto-facto:factor=10",
        "go-back",
        "quux",
        "+",
        "sack+",
        "rto-factor:factr=10",
        "rto-factor:factor",
        "rto-factor:factor=ten",
        "rto-factor:factor=-1",
        "rto-factor:factor=NaN",
        "rto-factor:factor=inf",
        "rto-factor:factor=10,factor=11",
        "rto-factor:",
        "sack:on=1",
        "min-rto:min=200",
        "min-rto:min=25 h",
        "delayed-ack:segments=0",
        "delayed-ack:segments=2.5",
        "initial-window:segments=99999999999999999999999",
        "sack+sack",
        "tahoe+sack",
        "go-back-n+rto-factor+selective-repeat",
    ]
    .into_iter()
    .map(|text| format!("{text}\n    {}\n", parse(text).unwrap_err()))
    .collect();
    insta::assert_snapshot!(errors);
    let long = parse(&"x".repeat(100_000)).unwrap_err().to_string();
    assert!(long.chars().count() < 200, "{long}");
}

#[test]
fn serialises_for_json() {
    let entry = serde_json::to_value(find("min-rto").unwrap()).unwrap();
    assert_eq!(entry["place"], "sender");
    assert_eq!(entry["parameters"][0]["default"], "1 s");
    let chosen = serde_json::to_value(parse("rto-factor+sack").unwrap()).unwrap();
    assert_eq!(chosen, serde_json::json!(["rto-factor:factor=10", "sack"]));
}

proptest! {
    #[test]
    fn never_panics(text in ".{0,80}") {
        let _ = parse(&text);
    }

    #[test]
    fn near_misses_never_panic(text in "(sack|rto-factor|min-rto|queue|[+:=,]|factor|min|5| ms){0,9}") {
        if let Ok(selection) = parse(&text) {
            prop_assert_eq!(parse(&selection.to_string()).unwrap(), selection);
        }
    }
}

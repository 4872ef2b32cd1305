use std::path::Path;

use airtcp_units::Duration;

use super::*;
use crate::{Quantity, catalogue, find, parse};

/// Every step of the catalogue, with the remedy that it belongs to.
fn steps() -> impl Iterator<Item = (&'static str, &'static Way, &'static Step)> {
    catalogue().iter().flat_map(|remedy| {
        let ways = remedy.deployment.ways.iter();
        ways.flat_map(move |way| way.steps.iter().map(move |step| (remedy.name, way, step)))
    })
}

/// The commands of a combination of one remedy, its first way.
fn commands(text: &str, deviation_ms: Option<f64>) -> Option<Vec<String>> {
    let chosen = parse(text).unwrap();
    let one = &chosen.as_slice()[0];
    let steps = one.remedy.deployment.ways[0].concrete(&one.given(), deviation_ms)?;
    Some(steps.iter().map(ToString::to_string).collect())
}

#[test]
fn a_deployment_says_how_or_why_not() {
    for remedy in catalogue() {
        let Deployment { ways, note, agent } = remedy.deployment;
        if let Some(agent) = agent {
            assert!(
                note.contains(&format!("airtcp {agent} ")),
                "{}",
                remedy.name
            );
        }
        assert!(!ways.is_empty() || !note.is_empty(), "{}", remedy.name);
        assert!(
            remedy.deployment_text().ends_with(['.', '!']),
            "{}: {:?}",
            remedy.name,
            remedy.deployment_text()
        );
    }
}

/// A kernel with the authors' patch may have a remedy that no released Linux has, under the same
/// name as Linux's own version 1: the module's version distinguishes them (google/bbr,
/// `BBR_VERSION`).
#[test]
fn a_way_may_be_in_few_kernels_only() {
    let ways = find("bbr-v3").unwrap().deployment.ways;
    assert!(ways.iter().all(|way| way.only_in.is_some()));
    let version = |way: &Way| way.module.map(|module| (module.name, module.version));
    assert_eq!(
        ways.iter().map(version).collect::<Vec<_>>(),
        [None, Some(("tcp_bbr", "3"))]
    );
    let text = find("bbr-v3").unwrap().deployment_text();
    assert!(
        text.contains("tcp_congestion_control=bbr` (only in kernels"),
        "{text}"
    );
    assert!(text.contains("where tcp_bbr is of version 3)"), "{text}");
    let everywhere = find("bbr").unwrap().deployment.ways;
    assert!(
        everywhere
            .iter()
            .all(|way| way.only_in.is_none() && way.module.is_none())
    );
}

#[test]
fn a_step_reads_only_its_remedys_parameters_and_of_the_right_kind() {
    for (name, _, step) in steps() {
        let Some(setting) = step.setting() else {
            continue;
        };
        let Some(parameter) = setting.parameter() else {
            continue;
        };
        let remedy = find(name).unwrap();
        let found = remedy.parameters.iter().find(|one| one.name == parameter);
        let default = found
            .unwrap_or_else(|| panic!("{name}: {parameter}"))
            .default;
        let right = match setting {
            Setting::Fixed(_) | Setting::Constants => false,
            Setting::Parameter(_) | Setting::BufferSizes { .. } => {
                matches!(default, Quantity::Count(_))
            }
            Setting::Shaped { .. } | Setting::Attempts(_) => matches!(default, Quantity::Unlimited),
            Setting::Milliseconds(_) | Setting::Microseconds(_) | Setting::AirtimeLimits { .. } => {
                matches!(default, Quantity::Time(_))
            }
            Setting::Thousandths(_) | Setting::Deviations(_) => {
                matches!(default, Quantity::Number(_))
            }
        };
        assert!(right, "{name}: {setting:?} of {default:?}");
    }
}

#[test]
fn values_are_in_the_words_of_the_system() {
    let one = |text| commands(text, None).unwrap().join("; ");
    assert_eq!(
        one("min-rto:min=400 ms"),
        "sysctl -w net.ipv4.tcp_rto_min_us=400000"
    );
    assert_eq!(
        one("initial-window:segments=12"),
        "ip route change ROUTE initcwnd 12"
    );
    assert_eq!(
        one("queue:packets=30"),
        "tc qdisc replace dev DEVICE root pfifo limit 30"
    );
    assert_eq!(
        one("newreno"),
        "sysctl -w net.ipv4.tcp_sack=0; sysctl -w net.ipv4.tcp_congestion_control=reno"
    );
    assert_eq!(
        one("newzag:adjusted=1"),
        "sysctl -w net.ipv4.tcp_sack=1; airtcp-net control newzag --set adjusted=1"
    );
    assert_eq!(
        one("coin:q=0.25"),
        "airtcp-net control coin --set radio_per_mille=250"
    );
}

/// Best effort is category 2 (Linux, net/mac80211/ieee80211_i.h), both limits are in microseconds.
#[test]
fn limits_of_airtime_are_in_the_words_of_mac80211() {
    let last = |text| commands(text, None).unwrap().pop().unwrap();
    let file = "/sys/kernel/debug/ieee80211/PHY/aql_txq_limit";
    assert_eq!(last("aql:limit=2 ms"), format!("echo 2 2000 2000 > {file}"));
    assert_eq!(
        last("airtime-fairness"),
        format!("echo 2 5000 12000 > {file}")
    );
    assert_eq!(
        last("airtime-fairness:limit=20 ms"),
        format!("echo 2 20000 20000 > {file}")
    );
}

/// tc-cake(8): `rtt` is left out where it is the one that cake assumes.
#[test]
fn cake_gets_its_rate_and_its_round_trip() {
    let last = |text| commands(text, None).unwrap().pop().unwrap();
    let root = "tc qdisc replace dev DEVICE root cake";
    assert_eq!(last("cake"), format!("{root} unlimited"));
    let far = last("cake:rate=9500,rtt=600 ms");
    assert_eq!(far, format!("{root} bandwidth 9500kbit rtt 600ms"));
}

#[test]
fn a_floor_of_less_than_a_unit_is_not_none() {
    let values = [Quantity::Time(Duration::from_nanos(1))];
    let remedy = find("min-rto").unwrap();
    let given = Values {
        parameters: remedy.parameters,
        quantities: &values,
    };
    assert_eq!(
        Setting::Milliseconds("min")
            .filled_in(&given, None)
            .unwrap(),
        "1ms"
    );
    assert_eq!(
        Setting::Microseconds("min")
            .filled_in(&given, None)
            .unwrap(),
        "1"
    );
}

/// Paper 1's factor has a value on Linux only where the deviation of a link is known.
#[test]
fn a_factor_of_the_deviation_needs_the_deviation() {
    assert_eq!(commands("rto-factor:factor=10", None), None);
    assert_eq!(
        commands("rto-factor:factor=10", Some(12.34)).unwrap(),
        ["ip route change ROUTE rto_min 124ms"]
    );
    let chosen = parse("rto-factor:factor=15").unwrap();
    let text = chosen.as_slice()[0].deployment();
    assert!(
        text.contains("`ip route change ROUTE rto_min <15 × RTT deviation>`"),
        "{text}"
    );
}

/// The running kernel is asked whether it knows each key that needs no newer one.
#[test]
fn the_kernel_has_every_setting() {
    let root = Path::new("/proc/sys");
    if !root.join("net/ipv4/tcp_sack").exists() {
        airtcp_needs::skip("no /proc/sys/net/ipv4, so this is not Linux");
        return;
    }
    for (name, way, step) in steps() {
        if let Step::Sysctl { key, .. } = step
            && way.since.is_none()
        {
            assert!(
                root.join(key.replace('.', "/")).exists(),
                "{name}: this kernel has no {key}"
            );
        }
    }
}

//! `[wlan]` with 802.11n, ac and ax.

use std::path::Path;

use crate::Scenario;

fn read(keys: &str) -> Result<Scenario, String> {
    let text = format!("topology = 'wlan'\n[wlan]\n{keys}\n");
    Scenario::parse(&text, "test", Path::new(".")).map_err(|error| error.to_string())
}

/// A standard is a complete scenario, which survives a round trip.
#[test]
fn a_standard_alone_is_a_scenario() {
    for standard in ["802.11n", "802.11ac", "802.11ax"] {
        let scenario = read(&format!("standard = '{standard}'")).expect(standard);
        let again = scenario.to_toml();
        assert!(again.contains("scheduler = \"airtime\""), "{again}");
        let again = Scenario::parse(&again, "test", Path::new(".")).expect(standard);
        assert_eq!(again.to_toml(), scenario.to_toml());
        assert_eq!(again.hash(), scenario.hash());
    }
}

/// Code points choose the categories of RFC 8325 §4.3, and the written scenario survives a round
/// trip.
#[test]
fn code_points_choose_categories() {
    let text = "topology = 'wlan'\nflows.dscp = ['CS0', 'EF', 'AF41', 'LE']\n\
        [wlan]\nstandard = '802.11n'\n";
    let scenario = Scenario::parse(text, "test", Path::new(".")).expect("a scenario");
    let again = scenario.to_toml();
    assert!(!again.contains("categories"), "{again}");
    Scenario::parse(&again, "test", Path::new(".")).expect("the same");
    for (text, expected) in [
        (
            "topology = 'arq'\nflows.dscp = ['EF']",
            "flows.dscp = [\"EF\"]: chooses CAKE's tin on a pipe, or an access category",
        ),
        (
            "topology = 'wlan'\nflows.dscp = ['EF']\n[wlan]\nstandard = '802.11n'\n\
             categories = ['voice']",
            "wlan.categories = [\"voice\"]: flows.dscp chooses",
        ),
    ] {
        let error = Scenario::parse(text, "test", Path::new(".")).expect_err(text);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Stations of older standards: defaults survive a round trip, and invalid configurations are
/// refused.
#[test]
fn older_stations_are_checked() {
    let text = "standard = '802.11n'\nband = '2.4 GHz'\n\
        stations = 3\nstation_standard = ['802.11n', '802.11g', '802.11b']\n";
    let scenario = read(text).expect("a scenario");
    let again = scenario.to_toml();
    assert!(again.contains("protection = \"cts-to-self\""), "{again}");
    Scenario::parse(&again, "test", Path::new(".")).expect("the same");
    for (keys, expected) in [
        (
            "standard = '802.11n'\nstation_standard = ['802.11ax']",
            "802.11ax is newer than wlan.standard, which is 802.11n",
        ),
        (
            "standard = '802.11n'\nstation_standard = ['802.11n', '802.11g']",
            "802.11g is not used at 5 GHz",
        ),
        (
            "standard = '802.11n'\nband = '2.4 GHz'\nstation_standard = ['802.11g']\n\
             station_rates = ['11 Mbit/s']",
            "wlan.station_rates = [\"11 Mbit/s\"]: 11 Mbit/s is no rate of 802.11g",
        ),
        (
            "standard = '802.11n'\nstation_standard = []",
            "wlan.station_standard = []: expected one at least",
        ),
    ] {
        let error = read(keys).expect_err(keys);
        assert!(error.contains(expected), "{error}");
    }
}

/// Each refusal names the key and the remedy.
#[test]
fn keys_that_do_not_fit_are_refused() {
    for (keys, expected) in [
        (
            "mcs = 7",
            "wlan.mcs = 7: belongs to wlan.standard = \"802.11n\"",
        ),
        (
            "standard = '802.11n'\nrate = '54 Mbit/s'",
            "wlan.rate = \"54 Mbit/s\": belongs to wlan.standard = \"802.11b\", \"802.11g\" or \
             \"802.11a\" (now \"802.11n\"); remove it, or choose one of them, or give wlan.mcs",
        ),
        (
            "standard = '802.11n'\nmcs = 8",
            "wlan.mcs = 8: MCS 8: 802.11n has MCS 0 to 7",
        ),
        (
            "standard = '802.11n'\nchannel_width = '80 MHz'",
            "wlan.channel_width = \"80 MHz\": a channel of 80 MHz: 802.11n has 20 and 40 MHz",
        ),
        (
            "standard = '802.11ax'\nguard_interval = '400 ns'",
            "wlan.guard_interval = \"400 ns\": a guard interval of 400 ns",
        ),
        (
            "standard = '802.11ac'\nband = '2.4 GHz'",
            "wlan.band = \"2.4 GHz\": 802.11ac is not used at 2.4 GHz",
        ),
        (
            "standard = '802.11n'\nscheduler = 'fifo'\naqm.discipline = 'codel'",
            "wlan.aqm: belongs to wlan.scheduler = \"qdisc\", \"round-robin\" or \"airtime\"",
        ),
        (
            "standard = '802.11n'\nscheduler = 'fifo'\ndriver_queue.packets = 10",
            "wlan.driver_queue: belongs to wlan.scheduler = \"qdisc\"",
        ),
        (
            "standard = '802.11n'\nedca.voice.cw_min = 14",
            "wlan.edca: contention windows of 14 to 7 slots",
        ),
        (
            "standard = '802.11n'\nrate_control = 'ideal'",
            "wlan.rate_control = \"ideal\": \"ideal\" chooses by the signal-to-noise ratio",
        ),
        (
            "standard = '802.11n'\nrate_control = 'minstrel-ht'\nmcs = 7",
            "wlan.mcs = 7: is for wlan.rate_control = \"fixed\"",
        ),
        (
            "standard = '802.11n'\nstation_rate_control = []",
            "wlan.station_rate_control = []: expected one at least",
        ),
        (
            "standard = '802.11a'\nrate_control = 'fixed'",
            "wlan.rate_control = \"fixed\": belongs to wlan.standard = \"802.11n\"",
        ),
        (
            "standard = '802.11n'\naggregation.amsdu = '7935 B'",
            "wlan.aggregation.amsdu = \"7935 B\": expected at most 3839 B",
        ),
        (
            "standard = '802.11n'\ncategories = []",
            "wlan.categories = []: no access category",
        ),
    ] {
        let error = read(keys).expect_err(keys);
        assert!(error.contains(expected), "{error}");
    }
}

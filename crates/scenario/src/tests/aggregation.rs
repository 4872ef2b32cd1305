//! `[wlan]` with 802.11n, ac and ax.

use std::path::Path;

use crate::Scenario;

fn read(keys: &str) -> Result<Scenario, String> {
    let text = format!("topology = 'wlan'\n[wlan]\n{keys}\n");
    Scenario::parse(&text, "test", Path::new(".")).map_err(|error| error.to_string())
}

/// The standard alone is a scenario; what it then is reads again to the same.
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

/// Each refusal names the key, and says what to do.
#[test]
fn keys_that_do_not_fit_are_refused() {
    for (keys, expected) in [
        (
            "mcs = 7",
            "wlan.mcs = 7: belongs to wlan.standard = \"802.11n\"",
        ),
        (
            "standard = '802.11n'\nrate = '54 Mbit/s'",
            "wlan.rate = \"54 Mbit/s\": belongs to 802.11b, g and a",
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
            "wlan.aqm: wlan.scheduler = \"fifo\" has no discipline",
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
            "standard = '802.11n'\ncategories = []",
            "wlan.categories = []: no access category",
        ),
    ] {
        let error = read(keys).expect_err(keys);
        assert!(error.contains(expected), "{error}");
    }
}

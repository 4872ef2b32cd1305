//! Invalid configurations, and their messages. Basic rates and preambles are refused by
//! [`Phy`](crate::phy::Phy), and a retry limit of zero cannot be written down.

use super::*;
use crate::phy::Mode;

fn refusal(change: impl FnOnce(&mut BssConfig)) -> String {
    let mut config = config(1);
    change(&mut config);
    let error = Bss::<()>::new(&config, Stream::new(1, "bss")).err();
    error.expect("refused").to_string()
}

#[test]
fn what_cannot_be_is_refused() {
    let window =
        |smallest, largest| refusal(|config| config.contention_window = Some((smallest, largest)));
    let expected = "; expected 2^k - 1, such as 15, 31 or 1023 (IEEE 802.11-2016 §10.3.3)";
    for slots in [32, 30, u32::MAX] {
        let told = format!("a contention window of {slots} slots{expected}");
        assert_eq!(window(slots, 1023), told);
        assert_eq!(window(31, slots), told);
    }
    assert_eq!(
        window(63, 31),
        "the smallest contention window, 63 slots, is above the largest, 31"
    );
    for stations in [0, 2008] {
        assert_eq!(
            refusal(|config| config.stations = stations),
            format!("{stations} stations; expected 1 to 2007")
        );
    }
    assert_eq!(
        refusal(|config| config.fragmentation_threshold = Some(255)),
        "a fragmentation threshold of 255 bytes; expected at least 256"
    );
}

/// The limits of valid configurations.
#[test]
fn what_can_be_is_not() {
    for (stations, window, threshold) in [(1, (0, 0), 256), (2007, (1023, 1023), u32::MAX)] {
        let config = BssConfig {
            contention_window: Some(window),
            fragmentation_threshold: Some(threshold),
            ..config(stations)
        };
        assert_eq!(config.check(), Ok(()));
    }
}

/// One rate more than stations.
#[test]
fn rates_without_a_station_are_refused() {
    let modes = vec![Mode::DSSS_1; 2];
    assert_eq!(
        refusal(|config| config.station_modes = modes),
        "2 rates, and 1 stations; expected a rate for each at most"
    );
}

//! Keys with the few values of a standard; the core decides which of them fit the other keys.

use serde_json::{Map, Value};

use super::keys::alternatives;
use super::{Control, Kind, Pick, Word, meaning};

/// IEEE 802.11-2020 tables 15-4, 16-3 and 17-4 (20 MHz), in bit/s.
const RATES: [f64; 12] = [
    1e6, 2e6, 5.5e6, 6e6, 9e6, 11e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6,
];
/// IEEE 802.11n, ac and ax: keys with a few words as values.
const WORDS: [&str; 4] = [
    "wlan.standard",
    "wlan.channel_width",
    "wlan.guard_interval",
    "wlan.scheduler",
];

/// Values of the standard for a key; empty if it has any.
fn values_of(key: &str) -> Vec<f64> {
    match key {
        "wlan.rate" | "wlan.basic_rate" => RATES.to_vec(),
        // Contention windows (IEEE 802.11-2020 §10.3.3), in slots.
        "wlan.cw_min" | "wlan.cw_max" => (1..16).map(|k| f64::from((1 << k) - 1)).collect(),
        // IEEE 802.11-2020 tables 19-27 and 21-29, 802.11ax-2021 table 27-54; 802.11n numbers its
        // streams consecutively, scenarios do not.
        "wlan.mcs" => (0..12).map(f64::from).collect(),
        "wlan.spatial_streams" => (1..5).map(f64::from).collect(),
        _ => Vec::new(),
    }
}

/// Values of the standard that a key may have.
pub(super) fn choices(control: &Control, accepts: &dyn Fn(&str, &str) -> bool) -> Vec<f64> {
    let unit = if control.kind == Kind::Rate {
        " bit/s"
    } else {
        ""
    };
    let mut values = values_of(&control.key);
    values.retain(|value| accepts(&control.key, &format!("{value:.0}{unit}")));
    values
}

/// The keys of current Wi-Fi with their words.
pub(super) fn picks(
    values: &[(String, Value)],
    leaves: &Map<String, Value>,
    accepts: &dyn Fn(&str, &str) -> bool,
) -> Vec<Pick> {
    let value_of = |key: &str| values.iter().find(|(own, _)| own == key);
    if value_of("wlan.channel_width").is_none() {
        return Vec::new();
    }
    let pick = |key: &&str| {
        let leaf = leaves.get(*key)?;
        Some(Pick {
            key: (*key).to_owned(),
            meaning: meaning(leaf),
            value: value_of(key)?.1.as_str()?.to_owned(),
            words: words(key, leaf, accepts),
        })
    };
    WORDS.iter().filter_map(pick).collect()
}

/// The words that the schema admits for a key.
fn words(key: &str, leaf: &Value, accepts: &dyn Fn(&str, &str) -> bool) -> Vec<Word> {
    let constants = alternatives(leaf).into_iter();
    constants
        .filter_map(|one| {
            let text = one["const"].as_str()?;
            Some(Word {
                text: text.to_owned(),
                meaning: meaning(one),
                fits: accepts(key, text),
            })
        })
        .collect()
}

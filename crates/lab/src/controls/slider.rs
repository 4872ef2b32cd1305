//! A key as a slider: its value, and the ends around it.

use serde_json::Value;

use super::keys::alternatives;
use super::{Control, Kind, meaning};

/// Range of a slider, as a factor below and above the scenario's value.
const SPREAD: f64 = 32.0;
/// Smallest positive value of the slider of a share that may be 0.
const SMALLEST_SHARE: f64 = 1e-4;
/// Half the range of a slider of logarithms such as dBm.
const LOGARITHMS: f64 = 30.0;

/// Last parts of keys that are shown directly; other keys are one click away.
const MAIN: [&str; 33] = [
    "rate",
    "delay",
    "lost",
    "of",
    "good_to_bad",
    "bad_to_good",
    "loss_in_bad",
    "packets",
    "bytes",
    "retry_limit",
    "retry_timeout",
    "window",
    "every",
    "length",
    "working",
    "mean",
    "share",
    "by",
    "distance_m",
    "speed_m_per_s",
    "transmit_power_dbm",
    "block_error",
    "saturated_users",
    "stations",
    "count",
    "max_window",
    "duration",
    "spike_share",
    "spike_height",
    "from",
    "to",
    "mcs",
    "spatial_streams",
];
/// Prefixes of keys that are always one click away.
const SECONDARY: [&str; 5] = [
    "wired.rate",
    "wired.queue.",
    "wlan.access_point_queue.",
    "link.reverse.",
    "flows.b",
];

/// The slider of a key with a value; `None` if the value is not a number.
pub(super) fn slider(key: &str, value: &Value, leaf: &Value) -> Option<Control> {
    let alternatives = alternatives(leaf);
    let is_unlimited = |one: &&Value| one["const"] == "unlimited";
    let unlimited = alternatives.iter().any(is_unlimited);
    let kind = Kind::of(&alternatives)?;
    let limits = limits(kind, &alternatives)?;
    let value = match value {
        Value::Number(number) => Some(number.as_f64()?),
        Value::String(text) if text == "unlimited" && unlimited => None,
        Value::String(text) => Some(kind.parse(text)?),
        _ => return None,
    };
    let (low, high) = ends(kind, value, limits);
    let last = key.rsplit('.').next().unwrap_or_default();
    let is_secondary = SECONDARY.iter().any(|prefix| key.starts_with(prefix));
    Some(Control {
        key: key.to_owned(),
        meaning: meaning(leaf),
        kind,
        value,
        low,
        high,
        zero: limits.0 <= 0.0 && kind != Kind::Number,
        unlimited,
        main: (MAIN.contains(&last) && !is_secondary) || key.ends_with("loss.rate"),
        choices: Vec::new(),
    })
}

/// The range that the schema admits, in the base unit.
fn limits(kind: Kind, alternatives: &[&Value]) -> Option<(f64, f64)> {
    let range = alternatives.iter().find_map(|one| one["x-range"].as_str());
    if let Some((low, high)) = range.and_then(|range| range.split_once(" to ")) {
        return Some((kind.parse(low)?, kind.parse(high)?));
    }
    let bounds = |one: &&Value| Some((one["minimum"].as_f64()?, one["maximum"].as_f64()?));
    alternatives.iter().find_map(bounds)
}

/// Ends of a slider if the scenario's 0 or "unlimited" gives no scale.
const fn from_zero(kind: Kind) -> (f64, f64) {
    match kind {
        Kind::Time => (1e-3, 1.0),
        Kind::Rate => (1e5, 1e9),
        Kind::Bytes => (1e3, 1e7),
        Kind::Count => (1.0, 100.0),
        Kind::Share | Kind::Number => (0.01, 10.0),
    }
}

/// The ends of a slider around a value, within the range of the schema.
fn ends(kind: Kind, value: Option<f64>, (least, most): (f64, f64)) -> (f64, f64) {
    let centre = value.unwrap_or(0.0);
    if kind == Kind::Share {
        return (least.max(SMALLEST_SHARE), most.min(1.0));
    }
    if kind == Kind::Number && centre <= 0.0 && least < 0.0 {
        // Logarithms: the same distance on both sides.
        return (
            least.max(centre - LOGARITHMS),
            most.min(centre + LOGARITHMS),
        );
    }
    let (mut low, mut high) = if centre > 0.0 {
        (centre / SPREAD, centre * SPREAD)
    } else {
        from_zero(kind)
    };
    if kind == Kind::Count {
        (low, high) = (1.0, high.max(20.0));
    }
    (least.max(low), most.min(high))
}

//! `tc -j qdisc show`: a list of objects; times in seconds, probabilities from 0 to 1, rates in
//! bytes a second.

use airtcp_units::Duration;
use serde_json::Value;

use super::super::json::from_json;
use super::command::Command;
use crate::fault::TraceError;
use crate::recording::{Losses, Shaping, Spread};
use crate::source::Source;

pub(super) fn is_list(bytes: &[u8]) -> bool {
    let begin = bytes.trim_ascii_start();
    let shown = &begin[..begin.len().min(400)];
    begin.starts_with(b"[")
        && [&b"\"kind\""[..], b"\"handle\""]
            .iter()
            .all(|key| shown.windows(key.len()).any(|window| window == *key))
}

pub(super) fn commands(bytes: &[u8], source: Source<'_>) -> Result<Vec<Command>, TraceError> {
    let list: Vec<Value> = from_json(bytes, source)?;
    let text = |one: &Value, key: &str| {
        one.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let of = |one: &Value| {
        let kind = text(one, "kind");
        let empty = Value::Null;
        let options = one.get("options").unwrap_or(&empty);
        Command {
            device: text(one, "dev"),
            shaping: shaping(&kind, options),
            kind,
        }
    };
    Ok(list.iter().map(of).collect())
}

fn shaping(kind: &str, options: &Value) -> Shaping {
    let number = |path: &[&str]| {
        let found = path.iter().try_fold(options, |value, key| value.get(key));
        found.and_then(Value::as_f64).filter(|value| *value >= 0.0)
    };
    let seconds = |path: &[&str]| number(path).and_then(Duration::from_secs_f64);
    let share = |path: &[&str]| number(path).filter(|share| (0.0..=1.0).contains(share));
    let count = |path: &[&str]| {
        number(path)
            .filter(|count| *count < 1e12)
            .map(|count| count as u64)
    };
    let bits = |bytes: f64| {
        Some((8.0 * bytes) as u64).filter(|bits| (1..10_000_000_000_000).contains(bits))
    };
    let mut found = Shaping::default();
    match kind {
        "netem" => {
            found.rate = number(&["rate", "rate"]).and_then(bits);
            found.delay = seconds(&["delay", "delay"]);
            found.jitter = seconds(&["delay", "jitter"]).filter(|jitter| jitter.as_nanos() > 0);
            if found.jitter.is_some() {
                // The kernel does not report its table.
                found.spread = Some(Spread::Uniform);
                found.unread.push("a distribution, if any,".to_owned());
            }
            found.losses = share(&["loss-random", "loss"]).map(Losses::Random);
            let gemodel = |key: &str| share(&["loss-gemodel", key]);
            if let (Some(to_bad), Some(to_good)) = (gemodel("p"), gemodel("r")) {
                let in_bad = gemodel("1-h").unwrap_or(1.0);
                let in_good = gemodel("1-k").unwrap_or(0.0);
                found.losses = Some(Losses::GilbertElliott([to_bad, to_good, in_bad, in_good]));
            }
            found.reorder = share(&["reorder", "reorder"]);
            found.limit_packets = count(&["limit"]);
            for key in ["duplicate", "corrupt", "loss-state", "slot"] {
                if options.get(key).is_some() {
                    found.unread.push(key.to_owned());
                }
            }
        }
        "tbf" => {
            found.rate = number(&["rate"]).and_then(bits);
            // Microseconds, as the kernel counts them.
            found.limit_delay = number(&["lat"]).and_then(|us| Duration::from_secs_f64(us / 1e6));
            found.limit_bytes = count(&["limit"]);
        }
        // Bytes a second, or the word "unlimited".
        "cake" => found.rate = number(&["bandwidth"]).and_then(bits),
        _ => found.limit_packets = count(&["limit"]),
    }
    found
}

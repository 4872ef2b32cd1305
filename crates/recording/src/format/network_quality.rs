//! Apple's `networkQuality -c`, macOS 12 and later.

use std::collections::BTreeMap;

use serde_json::Value;

use super::json::{begins_as_object, from_json};
use super::speed_test::{add_mean, finish, median_ms, of_ms};
use super::stamp::stamp;
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::Direction;
use crate::source::Source;

pub(super) const FORMAT: Format = Format {
    name: "networkquality",
    title: "the JSON of \"networkQuality -c\" (macOS)",
    knows: &[
        Fact::Direction,
        Fact::Rate,
        Fact::LowerBound,
        Fact::IdleDelay,
        Fact::LoadedDelay,
        Fact::Date,
    ],
    by_lines: false,
    sniff: |bytes| {
        begins_as_object(bytes, &["dl_throughput"])
            || begins_as_object(bytes, &["ul_throughput"])
            || begins_as_object(bytes, &["error_domain", "os_version"])
    },
    read,
};

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let fields: BTreeMap<String, Value> = from_json(bytes, source)?;
    let number = |key: &str| fields.get(key).and_then(Value::as_f64);
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let mut found = Recording::new(FORMAT.name, String::new());
    add_mean(
        &mut found,
        Direction::Down,
        number("dl_throughput").unwrap_or(0.0),
    );
    add_mean(
        &mut found,
        Direction::Up,
        number("ul_throughput").unwrap_or(0.0),
    );
    if found.rates.is_empty() {
        let code = number("error_code").map_or_else(String::new, |code| format!(" (error {code})"));
        return Err(source.error(
            None,
            TraceProblem::OtherKind {
                what: format!("a run of networkQuality that failed{code}"),
                remedy: "run it again until it shows a result".to_owned(),
            },
        ));
    }
    // Round trips are handshakes' and requests' over one; TLS takes several.
    let values = |is_of: &dyn Fn(&str) -> bool| -> Vec<f64> {
        let lists = fields
            .iter()
            .filter(|(key, _)| is_of(key) && !key.contains("tls"));
        let lists = lists.filter_map(|(_, value)| value.as_array());
        lists.flatten().filter_map(Value::as_f64).collect()
    };
    let idle = values(&|key| key.starts_with("il_tcp_handshake"));
    let figures = &mut found.figures;
    figures.idle_rtt = number("base_rtt")
        .and_then(of_ms)
        .or_else(|| median_ms(&idle));
    let loaded = |way: &str| {
        let own =
            values(&|key| key.starts_with("lud_") && key.contains(way) && key.contains("tcp"));
        let all = values(&|key| key.starts_with("lud_") && key.contains(way));
        median_ms(&own).or_else(|| median_ms(&all))
    };
    figures.loaded_down_rtt = loaded("_dl_");
    figures.loaded_up_rtt = loaded("_ul_");
    if figures.loaded_down_rtt.is_none() && figures.loaded_up_rtt.is_none() {
        figures.loaded_rtt = loaded("");
        found.remark("Both directions were loaded at once: the delay under load is that of both.");
    }
    if let Some(rpm) = number("responsiveness") {
        found.remark(format!(
            "Responsiveness under load: {rpm:.0} round trips a minute."
        ));
    }
    if let Some(start) = text("start_date")
        .and_then(stamp)
        .filter(|stamp| stamp.is_dated)
    {
        found.origin.began_unix_ns = Some(start.nanos);
        found.remark("Its time is local, without a zone.");
    }
    found.origin.hosts = text("test_endpoint")
        .map(str::to_owned)
        .into_iter()
        .collect();
    let system = text("os_version").unwrap_or_default();
    found.origin.program = Some(format!("networkQuality {system}").trim().to_owned());
    finish(&mut found, "networkQuality");
    Ok(found)
}

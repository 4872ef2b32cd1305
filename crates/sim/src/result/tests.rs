use airtcp_units::Instant;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt32Type, UInt64Type};

use super::*;

fn probe(name: &str) -> Probe {
    name.parse().unwrap()
}

#[test]
fn samples_become_columns() {
    let mut samples = Samples::new(&["cwnd", "srtt", "cwnd"].map(probe));
    samples.push(Instant::from_nanos(500_000_000), 3, |probe| {
        match probe.name() {
            "cwnd" => Reading::Count(14_480),
            _ => Reading::Missing,
        }
    });
    samples.push(Instant::from_nanos(1_000_000_000), 3, |probe| {
        match probe.name() {
            "cwnd" => Reading::Missing,
            _ => Reading::Real(51.5),
        }
    });
    let batch = samples.finish().unwrap();
    let names: Vec<_> = batch
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    assert_eq!(names, ["time_s", "flow", "cwnd_bytes", "srtt_ms"]);
    assert_eq!(
        batch["time_s"].as_primitive::<Float64Type>().values(),
        &[0.5, 1.0]
    );
    assert_eq!(batch["flow"].as_primitive::<UInt32Type>().values(), &[3, 3]);
    let cwnd = batch["cwnd_bytes"].as_primitive::<UInt64Type>();
    assert_eq!(cwnd.iter().collect::<Vec<_>>(), [Some(14_480), None]);
    let srtt = batch["srtt_ms"].as_primitive::<Float64Type>();
    assert_eq!(srtt.iter().collect::<Vec<_>>(), [None, Some(51.5)]);
    assert_eq!(
        samples.finish().unwrap().num_rows(),
        0,
        "finished samples are empty"
    );
}

#[test]
fn a_reading_of_the_other_kind_is_converted() {
    let mut samples = Samples::new(&["queue", "goodput"].map(probe));
    samples.push(Instant::ZERO, 0, |probe| match probe.name() {
        "queue" => Reading::Real(2.0),
        _ => Reading::Count(9),
    });
    let batch = samples.finish().unwrap();
    assert_eq!(
        batch["queue_packets"].as_primitive::<UInt64Type>().value(0),
        2
    );
    assert_eq!(
        batch["goodput_bps"].as_primitive::<Float64Type>().value(0),
        9.0
    );
}

#[test]
fn every_probe_has_a_column_of_its_type() {
    let mut samples = Samples::new(&Probe::all().collect::<Vec<_>>());
    samples.push(Instant::ZERO, 0, |_| Reading::Missing);
    let batch = samples.finish().unwrap();
    for probe in Probe::all() {
        assert_eq!(
            batch[probe.column()].data_type(),
            &probe.data_type(),
            "{probe}"
        );
        assert_eq!(probe.name().parse::<Probe>().unwrap(), probe);
    }
}

#[test]
fn unknown_probes_are_told_the_nearest() {
    let error = |name: &str| name.parse::<Probe>().unwrap_err().to_string();
    assert_eq!(
        error("cwmd"),
        "unknown probe \"cwmd\"; did you mean \"cwnd\"?"
    );
    assert_eq!(
        error("colour"),
        "unknown probe \"colour\"; there are cwnd, ssthresh, srtt, rtt, rto, in_flight, queue, \
         retry_queue_1, retry_queue_2, retry_queue_3, snr, aggregate, block_ack_window, airtime, \
         rate, mode, mode_streams, mode_success, goodput, delivered_bytes, arrived_bytes, \
         sent_bytes, retransmitted, mac_retries"
    );
}

#[test]
fn events_become_columns() {
    let mut log = EventLog::new();
    assert!(log.is_empty());
    for (position, kind) in EventKind::ALL.into_iter().enumerate() {
        let offset = (position % 2 == 0).then_some(1448 * position as u64);
        log.push(
            Instant::ZERO,
            1,
            kind,
            offset,
            Some(format_args!("number {position}")),
        );
    }
    log.push(Instant::ZERO, 2, EventKind::Timeout, None, None);
    assert_eq!(log.len(), 13);
    let batch = log.finish().unwrap();
    let event = batch["event"].as_dictionary::<UInt8Type>();
    let names = event.downcast_dict::<arrow_array::StringArray>().unwrap();
    let names: Vec<_> = names.into_iter().flatten().collect();
    assert_eq!(names[..12], EventKind::ALL.map(EventKind::name));
    assert_eq!(names[12], "timeout");
    let offset = batch["offset"].as_primitive::<UInt64Type>();
    assert_eq!(
        offset.iter().take(3).collect::<Vec<_>>(),
        [Some(0), None, Some(2896)]
    );
    let detail = batch["detail"].as_string::<i32>();
    assert_eq!(detail.value(11), "number 11");
    assert!(detail.is_null(12));
    assert!(log.is_empty(), "a finished log is empty");
}

#[test]
fn fairness_is_jains() {
    // Jain, Chiu & Hawe, §4: of n users k served equally, the index is k/n.
    assert_eq!(jain_fairness([5.0, 5.0, 5.0, 5.0]), Some(1.0));
    assert_eq!(jain_fairness([7.0, 0.0, 0.0, 0.0]), Some(0.25));
    assert_eq!(jain_fairness([3.0, 3.0, 3.0, 0.0, 0.0]), Some(0.6));
    assert_eq!(jain_fairness([5.0]), None);
    assert_eq!(jain_fairness([0.0, 0.0]), None);
}

#[test]
fn field_names_are_the_documented_ones() {
    let run = RunSummary {
        flows: vec![FlowSummary::default()],
        ..RunSummary::default()
    };
    insta::assert_snapshot!(serde_json::to_string_pretty(&run).unwrap());
}

/// The part of the document between two markers is generated from this crate's fields.
#[test]
fn documentation_lists_every_field() {
    let page = "docs/reference/results.md";
    documentation::check(page, "run", &fields_of::<RunSummary>());
    documentation::check(page, "flow", &fields_of::<FlowSummary>());
    let summary = "python/airtcp/core/summary.py";
    documentation::check(summary, "flow", &in_python::<FlowSummary>());
    documentation::check(summary, "run", &in_python::<RunSummary>());
    let latency = fields_of::<LatencySummary>();
    documentation::check(page, "latency", &latency);
    documentation::check(summary, "latency", &in_python::<LatencySummary>());
    let under_load = fields_of::<UnderLoadSummary>();
    documentation::check(page, "under_load", &under_load);
    documentation::check(summary, "under_load", &in_python::<UnderLoadSummary>());
    let probes: String = Probe::all()
        .map(|probe| {
            let kind = if probe.is_count() {
                "whole number"
            } else {
                "number"
            };
            format!(
                "| `{}` | `{}` | {kind} | {} |\n",
                probe.name(),
                probe.column(),
                probe.meaning()
            )
        })
        .collect();
    documentation::check(
        page,
        "probes",
        &format!("| probe | column | type | meaning |\n|---|---|---|---|\n{probes}"),
    );
    let events: String = EventKind::ALL
        .iter()
        .map(|kind| format!("| `{}` | {} |\n", kind.name(), kind.meaning()))
        .collect();
    documentation::check(
        page,
        "events",
        &format!("| event | what happened |\n|---|---|\n{events}"),
    );
}

/// A table of a type's fields, from its schema.
fn fields_of<T: schemars::JsonSchema>() -> String {
    let schema = schemars::schema_for!(T).to_value();
    let mut table = "| field | type | meaning |\n|---|---|---|\n".to_owned();
    for (name, field) in schema["properties"].as_object().unwrap() {
        let kind = match &field["type"] {
            serde_json::Value::Array(kinds) => kinds
                .iter()
                .map(|kind| kind.as_str().unwrap())
                .collect::<Vec<_>>()
                .join(" or "),
            kind => kind.as_str().unwrap().to_owned(),
        };
        let meaning = field["description"].as_str().unwrap().replace('\n', " ");
        table += &format!("| `{name}` | {kind} | {meaning} |\n");
    }
    table
}

/// A type's fields with their types in Python.
fn in_python<T: schemars::JsonSchema>() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let fields = schema.get("properties").unwrap().as_object().unwrap();
    fields
        .iter()
        .map(|(name, field)| format!("    {name}: {}\n", python_type(field)))
        .collect()
}

fn python_type(field: &serde_json::Value) -> String {
    let named = |kind: &str| match kind {
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "string" => "str".to_owned(),
        "null" => "None".to_owned(),
        "array" => format!("list[{}]", python_type(&field["items"])),
        "object" => field["title"].as_str().unwrap_or("FlowSummary").to_owned(),
        other => panic!("a field of type {other}"),
    };
    match &field["type"] {
        serde_json::Value::Array(kinds) => kinds
            .iter()
            .map(|kind| named(kind.as_str().unwrap()))
            .collect::<Vec<_>>()
            .join(" | "),
        kind => named(kind.as_str().unwrap()),
    }
}

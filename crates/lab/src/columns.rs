//! Rows of a run as columns and events for the page.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use serde_json::{Map, Value};

/// The samples of one flow of `flows`, reals to three decimals: more are not visible. At each
/// instant all flows are sampled, in order.
pub(crate) fn columns(samples: &RecordBatch, flow: usize, flows: usize) -> Map<String, Value> {
    let schema = samples.schema();
    let named = schema.fields().iter().zip(samples.columns());
    named
        .filter(|(field, _)| field.name() != "flow")
        .map(|(field, column)| {
            let rows = (flow..column.len()).step_by(flows.max(1));
            let values = rows.map(|row| number(column.as_ref(), row)).collect();
            (field.name().clone(), Value::Array(values))
        })
        .collect()
}

fn number(column: &dyn Array, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    if let Some(reals) = column.as_primitive_opt::<Float64Type>() {
        return rounded(reals.value(row), 1e3).into();
    }
    if let Some(counts) = column.as_primitive_opt::<UInt64Type>() {
        return counts.value(row).into();
    }
    Value::Null
}

/// Time, kind and detail of the events of one flow, of these kinds.
pub(crate) fn events(events: &RecordBatch, flow: u32, kinds: &[&str]) -> Vec<Value> {
    let named = |name| events.column_by_name(name);
    let columns = (
        named("time_s").and_then(|column| column.as_primitive_opt::<Float64Type>()),
        named("flow").and_then(|column| column.as_primitive_opt::<UInt32Type>()),
        named("event").and_then(|column| column.as_dictionary_opt::<UInt8Type>()),
        named("detail").and_then(|column| column.as_string_opt::<i32>()),
    );
    let (Some(times), Some(flows), Some(events), Some(details)) = columns else {
        return Vec::new();
    };
    let Some(names) = events.values().as_string_opt::<i32>() else {
        return Vec::new();
    };
    (0..times.len())
        .filter(|row| flows.value(*row) == flow)
        .filter_map(|row| {
            let kind = names.value(usize::from(events.keys().value(row)));
            let detail = (!details.is_null(row)).then(|| details.value(row));
            let time_s = rounded(times.value(row), 1e6);
            kinds
                .contains(&kind)
                .then(|| serde_json::json!([time_s, kind, detail]))
        })
        .collect()
}

fn rounded(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

//! Columns of Arrow as plain values; None where a column is of another kind.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

/// Numbers, or truth values as 0 and 1, as bytes of `f64`, with NaN for null.
pub(crate) fn reals(column: &ArrayRef) -> Option<Vec<u8>> {
    fn bytes(values: impl Iterator<Item = Option<f64>>) -> Vec<u8> {
        values
            .flat_map(|value| value.unwrap_or(f64::NAN).to_ne_bytes())
            .collect()
    }
    if let Some(values) = column.as_primitive_opt::<Float64Type>() {
        return Some(bytes(values.iter()));
    }
    if let Some(values) = column.as_primitive_opt::<Int64Type>() {
        return Some(bytes(
            values.iter().map(|one| one.map(|value| value as f64)),
        ));
    }
    if let Some(values) = column.as_primitive_opt::<UInt64Type>() {
        return Some(bytes(
            values.iter().map(|one| one.map(|value| value as f64)),
        ));
    }
    if let Some(values) = column.as_primitive_opt::<UInt32Type>() {
        return Some(bytes(values.iter().map(|one| one.map(f64::from))));
    }
    let values = column.as_boolean_opt()?;
    Some(bytes(values.iter().map(|one| one.map(f64::from))))
}

/// Whole numbers as bytes of `i64`; None for a null and what has no room, too.
pub(crate) fn wholes(column: &ArrayRef) -> Option<Vec<u8>> {
    fn bytes(values: impl Iterator<Item = Option<i64>>, rows: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(rows * size_of::<i64>());
        for value in values {
            bytes.extend_from_slice(&value?.to_ne_bytes());
        }
        Some(bytes)
    }
    let rows = column.len();
    if let Some(values) = column.as_primitive_opt::<Int64Type>() {
        return bytes(values.iter(), rows);
    }
    if let Some(values) = column.as_primitive_opt::<UInt64Type>() {
        return bytes(values.iter().map(|one| i64::try_from(one?).ok()), rows);
    }
    let values = column.as_primitive_opt::<UInt32Type>()?;
    bytes(values.iter().map(|one| one.map(i64::from)), rows)
}

/// Truth values as a byte each, with 0 for null.
pub(crate) fn flags(column: &ArrayRef) -> Option<Vec<u8>> {
    let values = column.as_boolean_opt()?;
    Some(
        values
            .iter()
            .map(|one| u8::from(one.unwrap_or(false)))
            .collect(),
    )
}

/// Words, each by itself or by its number in a dictionary, with None for null.
pub(crate) fn words(column: &ArrayRef) -> Option<Vec<Option<&str>>> {
    if let Some(coded) = column.as_dictionary_opt::<UInt8Type>() {
        let words = coded.downcast_dict::<StringArray>()?;
        return Some(words.into_iter().collect());
    }
    Some(column.as_string_opt::<i32>()?.iter().collect())
}

/// Python's values of a column, with None for null.
pub(crate) fn objects<'py>(
    py: Python<'py>,
    column: &ArrayRef,
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    fn each<'py, Value: IntoPyObject<'py>>(
        py: Python<'py>,
        values: impl Iterator<Item = Option<Value>>,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        values
            .map(|value| value.into_bound_py_any(py))
            .collect::<PyResult<_>>()
            .map(Some)
    }
    if let Some(values) = column.as_primitive_opt::<Float64Type>() {
        return each(py, values.iter());
    }
    if let Some(values) = column.as_primitive_opt::<Int64Type>() {
        return each(py, values.iter());
    }
    if let Some(values) = column.as_primitive_opt::<UInt64Type>() {
        return each(py, values.iter());
    }
    if let Some(values) = column.as_primitive_opt::<UInt32Type>() {
        return each(py, values.iter());
    }
    if let Some(values) = column.as_primitive_opt::<UInt16Type>() {
        return each(py, values.iter());
    }
    if let Some(values) = column.as_boolean_opt() {
        return each(py, values.iter());
    }
    match words(column) {
        Some(values) => each(py, values.into_iter()),
        None => Ok(None),
    }
}

//! Export of columns: by Arrow's C stream, without a copy.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    RecordBatchOptions, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table for any reader of Arrow's C stream: `polars.DataFrame`, pandas, pyarrow.
#[pyclass(frozen, module = "airtcp._core")]
pub(crate) struct Table(RecordBatch);

#[pymethods]
impl Table {
    /// The stream of the Arrow PyCapsule interface. A requested schema is ignored, as the interface
    /// allows: the columns keep their types.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let rows = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(rows));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

impl From<&RecordBatch> for Table {
    fn from(batch: &RecordBatch) -> Self {
        // The columns are shared, not copied.
        Self(batch.clone())
    }
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Self {
        Self(batch)
    }
}

/// A table of columns of Python's: `(name, type, values)`, with the type one of "bool", "float64",
/// "int64", "string", "uint32" and "uint64", and None for no value.
///
/// # Errors
///
/// A type is unknown, a value is not of its column's type, or the lengths differ.
#[pyfunction]
pub fn table(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Table> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays = Vec::with_capacity(columns.len());
    for (name, kind, values) in columns {
        let array = array(&kind, &values)?;
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let rows = arrays.first().map_or(0, |first| first.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map(Table)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

fn array(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    Ok(match kind {
        "bool" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
        "float64" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
        "int64" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
        "string" => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
        "uint32" => Arc::new(UInt32Array::from(values.extract::<Vec<Option<u32>>>()?)),
        "uint64" => Arc::new(UInt64Array::from(values.extract::<Vec<Option<u64>>>()?)),
        _ => {
            return Err(PyValueError::new_err(format!(
                "type {kind}: expected bool, float64, int64, string, uint32 or uint64"
            )));
        }
    })
}

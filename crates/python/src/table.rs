//! Export of columns from the core: by Arrow's C stream, without a copy.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
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

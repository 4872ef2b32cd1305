//! Export of columns: by Arrow's C stream, without a copy, and one by one to NumPy.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::UInt8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch,
    RecordBatchIterator, RecordBatchOptions, StringArray, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyString};

use crate::columns;

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

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// A column of numbers, or of truth values as 0 and 1, as float64, with NaN for no value.
    fn reals<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let values = columns::reals(self.column(name)?);
        read_only(py, &of_kind(values, name, "numbers")?, "float64")
    }

    /// A column of whole numbers as int64.
    ///
    /// # Errors
    ///
    /// A row has no value, or one above 2^63 - 1.
    fn wholes<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let values = columns::wholes(self.column(name)?);
        read_only(py, &of_kind(values, name, "whole numbers")?, "int64")
    }

    /// A column of truth values as bool, with false for no value.
    fn flags<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let values = columns::flags(self.column(name)?);
        read_only(py, &of_kind(values, name, "truth values")?, "bool")
    }

    /// A column of words, with None for no value.
    fn words<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let words = of_kind(columns::words(self.column(name)?), name, "words")?;
        PyList::new(py, words)
    }

    /// The rows, each a dictionary with every column, and None for no value.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows: Vec<_> = (0..self.0.num_rows()).map(|_| PyDict::new(py)).collect();
        for (field, column) in self.0.schema().fields().iter().zip(self.0.columns()) {
            let name = PyString::intern(py, field.name());
            let values = of_kind(columns::objects(py, column)?, field.name(), "plain values")?;
            for (row, value) in rows.iter().zip(values) {
                row.set_item(&name, value)?;
            }
        }
        Ok(rows)
    }

    /// Its columns for [`table`], which makes it again in another process.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Columns<'py>,))> {
        let schema = self.0.schema();
        let fields = schema.fields().iter().zip(self.0.columns());
        let columns = fields
            .map(|(field, column)| {
                let values = of_kind(columns::objects(py, column)?, field.name(), "plain values")?;
                let kind = kind(field.data_type());
                Ok((
                    field.name().clone(),
                    kind.to_owned(),
                    PyList::new(py, values)?.into_any(),
                ))
            })
            .collect::<PyResult<_>>()?;
        Ok((py.import("airtcp._core")?.getattr("table")?, (columns,)))
    }
}

/// Columns of Python's: name, type, values.
type Columns<'py> = Vec<(String, String, Bound<'py, PyAny>)>;

impl Table {
    fn column(&self, name: &str) -> PyResult<&ArrayRef> {
        self.0.column_by_name(name).ok_or_else(|| {
            let schema = self.0.schema();
            let names: Vec<&str> = schema
                .fields()
                .iter()
                .map(|one| one.name().as_str())
                .collect();
            PyKeyError::new_err(format!("{name:?}: expected one of {}", names.join(", ")))
        })
    }
}

fn of_kind<T>(values: Option<T>, name: &str, kind: &str) -> PyResult<T> {
    values.ok_or_else(|| PyTypeError::new_err(format!("column {name:?} is not of {kind}")))
}

/// Values in this machine's order of bytes as an array of NumPy, which nobody may write to.
fn read_only<'py>(py: Python<'py>, bytes: &[u8], kind: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("numpy")?
        .call_method1("frombuffer", (PyBytes::new(py, bytes), kind))
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
/// "int64", "string", "uint16", "uint32", "uint64" and "category", for words that repeat, of which
/// there are 256 at most; and None for no value.
///
/// # Errors
///
/// A type is unknown, a value is not of its column's type, or the lengths differ.
#[pyfunction]
pub fn table(columns: Columns<'_>) -> PyResult<Table> {
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
        "uint16" => Arc::new(UInt16Array::from(values.extract::<Vec<Option<u16>>>()?)),
        "uint32" => Arc::new(UInt32Array::from(values.extract::<Vec<Option<u32>>>()?)),
        "uint64" => Arc::new(UInt64Array::from(values.extract::<Vec<Option<u64>>>()?)),
        "category" => Arc::new(categories(&values.extract::<Vec<Option<String>>>()?)?),
        _ => {
            return Err(PyValueError::new_err(format!(
                "type {kind}: expected bool, category, float64, int64, string, uint16, uint32 or \
                 uint64"
            )));
        }
    })
}

fn categories(words: &[Option<String>]) -> PyResult<DictionaryArray<UInt8Type>> {
    let mut column = StringDictionaryBuilder::new();
    for word in words {
        match word {
            Some(word) => {
                column
                    .append(word)
                    .map_err(|error| PyValueError::new_err(error.to_string()))?;
            }
            None => column.append_null(),
        }
    }
    Ok(column.finish())
}

/// The name of a column's type for [`table`]; empty for one that it does not make.
fn kind(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Boolean => "bool",
        DataType::Dictionary(..) => "category",
        DataType::Float64 => "float64",
        DataType::Int64 => "int64",
        DataType::UInt16 => "uint16",
        DataType::UInt32 => "uint32",
        DataType::UInt64 => "uint64",
        DataType::Utf8 => "string",
        _ => "",
    }
}

//! How columns leave the core.

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;

/// The table as an Arrow IPC stream, which Polars, pandas and R read.
///
/// # Errors
/// What Arrow cannot encode; none of airtcp's columns are such.
pub fn ipc_stream(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), batch.schema_ref())?;
    writer.write(batch)?;
    writer.into_inner()
}

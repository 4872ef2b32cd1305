//! The link's treatment of each packet, as a Parquet file: one row per packet, in order of arrival.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use airtcp_link::Transmission;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::journal::Row;
use crate::end::End;

/// The columns. Times are nanoseconds from the start of the emulation.
const SCHEMA: &str = "message packets {
    required int64 packet (integer(64, true));
    required int32 flow;
    optional int64 number;
    required int32 station;
    required binary way (string);
    required binary direction (string);
    required boolean tcp;
    required int32 bytes;
    required int64 arrived_ns;
    required int32 queued;
    optional int32 retries;
    optional int64 left_ns;
    optional int64 delivered_ns;
    required binary fate (string);
}";
/// Number of rows in a batch.
const GROUP: usize = 1 << 16;

/// A table being written.
pub struct Table {
    writer: SerializedFileWriter<File>,
    rows: Vec<Row>,
}

impl Table {
    /// Creates a table at `path`, replacing an old file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let schema = parse_message_type(SCHEMA).map_err(io_error)?;
        let properties = Arc::new(WriterProperties::default());
        let writer = SerializedFileWriter::new(File::create(path)?, Arc::new(schema), properties)
            .map_err(io_error)?;
        Ok(Self {
            writer,
            rows: Vec::new(),
        })
    }

    /// Adds a row.
    pub fn write(&mut self, row: &Row) -> io::Result<()> {
        self.rows.push(*row);
        if self.rows.len() == GROUP {
            self.write_group().map_err(io_error)?;
        }
        Ok(())
    }

    /// Writes the buffered rows and the table's end.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.write_group().map_err(io_error)?;
        }
        self.writer.close().map_err(io_error)?;
        Ok(())
    }

    /// The columns in the order of [`SCHEMA`].
    fn write_group(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        let mut group = self.writer.next_row_group()?;
        let group_of = &mut group;
        put::<Int64Type>(group_of, &rows, |row| signed(row.taken.number))?;
        put::<Int32Type>(group_of, &rows, |row| row.taken.flow.cast_signed())?;
        put_known::<Int64Type>(group_of, &rows, |row| {
            let is_numbered = row.taken.index != Transmission::UNNUMBERED;
            is_numbered.then(|| signed(row.taken.index))
        })?;
        put::<Int32Type>(group_of, &rows, |row| i32::from(row.taken.station))?;
        put::<ByteArrayType>(group_of, &rows, |row| {
            ByteArray::from(match row.taken.from {
                End::Station(_) => "up",
                End::Server => "down",
            })
        })?;
        put::<ByteArrayType>(group_of, &rows, |row| {
            ByteArray::from(if row.taken.is_data { "data" } else { "acks" })
        })?;
        put::<BoolType>(group_of, &rows, |row| row.taken.is_tcp)?;
        put::<Int32Type>(group_of, &rows, |row| row.taken.bytes.cast_signed())?;
        put::<Int64Type>(group_of, &rows, |row| signed(row.taken.arrived.as_nanos()))?;
        put::<Int32Type>(group_of, &rows, |row| row.taken.queued.cast_signed())?;
        put_known::<Int32Type>(group_of, &rows, |row| {
            row.attempts.checked_sub(1).map(u32::cast_signed)
        })?;
        put_known::<Int64Type>(group_of, &rows, |row| {
            row.left.map(|time| signed(time.as_nanos()))
        })?;
        put_known::<Int64Type>(group_of, &rows, |row| {
            row.delivered.map(|time| signed(time.as_nanos()))
        })?;
        put::<ByteArrayType>(group_of, &rows, |row| ByteArray::from(row.fate.name()))?;
        group.close()?;
        Ok(())
    }
}

/// Writes a column that every row has.
fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    rows: &[Row],
    value: impl Fn(&Row) -> T::T,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = rows.iter().map(value).collect();
    write_column::<T>(group, &values, None)
}

/// Writes a column that some rows have.
fn put_known<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    rows: &[Row],
    value: impl Fn(&Row) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let all: Vec<Option<T::T>> = rows.iter().map(value).collect();
    let levels: Vec<i16> = all.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = all.into_iter().flatten().collect();
    write_column::<T>(group, &values, Some(&levels))
}

fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General(
            "a column more than the table has".to_owned(),
        ));
    };
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

/// Counts and times are far below 2^63.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other.to_string()),
        },
        other => io::Error::other(other.to_string()),
    }
}

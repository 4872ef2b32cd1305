//! Sampled variables, in columns.

use std::sync::Arc;

use airtcp_units::Instant;
use arrow_array::builder::{Float64Builder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use super::{Probe, Reading};

/// A table of samples: time, flow, and one column per probe.
#[derive(Debug)]
pub struct Samples {
    probes: Vec<Probe>,
    time_s: Float64Builder,
    flow: UInt32Builder,
    columns: Vec<Column>,
}

#[derive(Debug)]
enum Column {
    Counts(UInt64Builder),
    Reals(Float64Builder),
}

impl Column {
    fn push(&mut self, reading: Reading) {
        match (self, reading) {
            (Self::Counts(column), Reading::Count(count)) => column.append_value(count),
            (Self::Counts(column), Reading::Real(real)) => column.append_value(real as u64),
            (Self::Counts(column), Reading::Missing) => column.append_null(),
            (Self::Reals(column), Reading::Count(count)) => column.append_value(count as f64),
            (Self::Reals(column), Reading::Real(real)) => column.append_value(real),
            (Self::Reals(column), Reading::Missing) => column.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Counts(column) => Arc::new(column.finish()),
            Self::Reals(column) => Arc::new(column.finish()),
        }
    }
}

impl Samples {
    /// Creates an empty table for these probes; a probe named twice has one column.
    pub fn new(probes: &[Probe]) -> Self {
        let mut distinct: Vec<Probe> = Vec::new();
        for probe in probes {
            if !distinct.contains(probe) {
                distinct.push(*probe);
            }
        }
        let columns = distinct
            .iter()
            .map(|probe| match probe.is_count() {
                true => Column::Counts(UInt64Builder::new()),
                false => Column::Reals(Float64Builder::new()),
            })
            .collect();
        Self {
            probes: distinct,
            time_s: Float64Builder::new(),
            flow: UInt32Builder::new(),
            columns,
        }
    }

    /// Adds a row: `read` is called for each probe in turn. A reading of the wrong kind is
    /// converted.
    pub fn push(&mut self, time: Instant, flow: u32, mut read: impl FnMut(Probe) -> Reading) {
        self.time_s.append_value(time.as_secs_f64());
        self.flow.append_value(flow);
        for (probe, column) in self.probes.iter().zip(&mut self.columns) {
            column.push(read(*probe));
        }
    }

    /// Returns the rows so far as an Arrow table; the samples are empty afterwards.
    ///
    /// # Errors
    /// None that the columns can cause; Arrow checks their lengths and types.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let mut fields = vec![
            Field::new("time_s", DataType::Float64, false),
            Field::new("flow", DataType::UInt32, false),
        ];
        fields.extend(
            self.probes
                .iter()
                .map(|probe| Field::new(probe.column(), probe.data_type(), true)),
        );
        let mut arrays: Vec<ArrayRef> =
            vec![Arc::new(self.time_s.finish()), Arc::new(self.flow.finish())];
        arrays.extend(self.columns.iter_mut().map(Column::finish));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }
}

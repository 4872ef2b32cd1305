//! The link's treatment of each packet, as CSV: one row per packet, in order of arrival. An empty
//! field is an unknown value. A recording that is cut short has every row but the last.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use airtcp_link::Transmission;

use super::journal::Row;
use crate::end::End;

/// The columns. Times are nanoseconds from the start of the emulation.
const COLUMNS: &str = "packet,flow,number,station,way,direction,tcp,bytes,arrived_ns,queued,\
                       retries,left_ns,delivered_ns,fate";

/// A table being written.
pub struct Table(BufWriter<File>);

impl Table {
    /// Creates a table at `path`, replacing an old file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 16, File::create(path)?);
        writeln!(file, "{COLUMNS}")?;
        Ok(Self(file))
    }

    /// Adds a row.
    pub fn write(&mut self, row: &Row) -> io::Result<()> {
        let taken = &row.taken;
        let number = (taken.index != Transmission::UNNUMBERED).then_some(taken.index);
        let way = match taken.from {
            End::Station(_) => "up",
            End::Server => "down",
        };
        let direction = if taken.is_data { "data" } else { "acks" };
        writeln!(
            self.0,
            "{},{},{},{},{way},{direction},{},{},{},{},{},{},{},{}",
            taken.number,
            taken.flow,
            Known(number),
            taken.station,
            taken.is_tcp,
            taken.bytes,
            taken.arrived.as_nanos(),
            taken.queued,
            Known(row.attempts.checked_sub(1)),
            Known(row.left.map(airtcp_units::Instant::as_nanos)),
            Known(row.delivered.map(airtcp_units::Instant::as_nanos)),
            row.fate.name(),
        )
    }

    /// Writes the buffered rows.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A value, or nothing where it is unknown.
struct Known<T>(Option<T>);

impl<T: std::fmt::Display> std::fmt::Display for Known<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.as_ref().map_or(Ok(()), |value| value.fmt(f))
    }
}

//! The packets that a link lost, by their numbers: CSV with the columns `flow` (0 when there is no
//! such column) and `packet`, both counted from 0.

use super::columns::{Row, read_rows};
use super::{Source, TraceError};
use std::io::Read;

const EXPECTED: &str = "CSV with a column packet and perhaps flow, a line for each lost packet";
/// Flows that a run may have.
const MAX_FLOWS: u64 = 1_000_000;

/// Numbers of lost packets: the index of each within its flow and direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostPackets {
    /// (flow, packet), sorted.
    numbers: Vec<(u32, u64)>,
}

impl LostPackets {
    /// The packets of these (flow, number) pairs, in any order.
    #[must_use]
    pub fn new(mut numbers: Vec<(u32, u64)>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        Self { numbers }
    }

    /// Reads a list of at most [`super::MAX_BYTES`]; `name` identifies it in errors. An empty list
    /// means a link without losses.
    ///
    /// # Errors
    /// Unreadable, too large, no column `packet`, or an invalid number.
    pub fn read(reader: impl Read, name: &str) -> Result<Self, TraceError> {
        let bytes = Source::new(name).read_all(reader)?;
        Self::parse(&bytes, name)
    }

    /// Reads a list that is in memory; otherwise as [`Self::read`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, TraceError> {
        let mut numbers = Vec::new();
        let take = |row: &Row<'_>| {
            let packet = row.count(0)?.unwrap_or_default();
            let flow = row.count(1)?.unwrap_or_default();
            let number = u32::try_from(flow).ok().filter(|_| flow < MAX_FLOWS);
            let Some(flow) = number else {
                let remedy = "correct or remove the line";
                return Err(row.refuse(&flow.to_string(), "a flow below 1000000", remedy));
            };
            numbers.push((flow, packet));
            Ok(())
        };
        let columns: (&[_], &[_]) = (&["packet"], &["flow"]);
        read_rows(bytes, columns, EXPECTED, Source::new(name), take)?;
        Ok(Self::new(numbers))
    }

    /// The list in the format that is read.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let rows = self.numbers.iter();
        let rows = rows.map(|(flow, packet)| format!("{flow},{packet}\n"));
        "flow,packet\n".to_owned() + &rows.collect::<String>()
    }

    /// Whether packet number `packet` of `flow` is among them.
    #[must_use]
    pub fn contains(&self, flow: u32, packet: u64) -> bool {
        self.numbers.binary_search(&(flow, packet)).is_ok()
    }

    /// The number of packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

//! Empty tables for data that was not recorded. Built once: a short run takes less time than
//! building them.

use std::sync::OnceLock;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::result::{AgentLog, EventLog, FrameLog, PacketLog, PingTable, RttTable, Samples};

/// Every table of a result, with its columns and no rows.
#[derive(Clone, Debug)]
pub(super) struct Nothing {
    pub samples: RecordBatch,
    pub events: RecordBatch,
    pub frames: RecordBatch,
    pub agents: RecordBatch,
    pub rtts: RecordBatch,
    pub packets: RecordBatch,
    pub pings: RecordBatch,
}

impl Nothing {
    /// Returns the tables.
    ///
    /// # Errors
    /// None that the columns can cause; Arrow checks their lengths and types.
    pub(super) fn recorded() -> Result<&'static Self, ArrowError> {
        static TABLES: OnceLock<Nothing> = OnceLock::new();
        if let Some(tables) = TABLES.get() {
            return Ok(tables);
        }
        let made = Self {
            samples: Samples::new(&[]).finish()?,
            events: EventLog::new().finish()?,
            frames: FrameLog::default().finish()?,
            agents: AgentLog::default().finish()?,
            rtts: RttTable::default().finish()?,
            packets: PacketLog::default().finish()?,
            pings: PingTable::default().finish()?,
        };
        Ok(TABLES.get_or_init(|| made))
    }
}

//! `[link.aqm]`: which of the packets that wait is served, dropped or marked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HOUR;
use crate::names::DisciplineName;
use airtcp_units::bounded::{MICROSECOND, Span, Whole};

/// A queue that looks after its own delay; how much may wait in it is said beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AqmTable {
    /// Which one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<DisciplineName>,
    /// Delay in the queue that is acceptable (RFC 8289 §4.4: 5 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Span<MICROSECOND, HOUR>>,
    /// For how long the delay must be above that before a packet is dropped (RFC 8289 §4.3: 100
    /// ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span<MICROSECOND, HOUR>>,
    /// Packets whose endpoints agreed on it (`tcp.ecn`) are marked and not dropped. When
    /// left out, as in Linux: with `fq-codel` they are, with `codel` not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Number of queues that flows are spread over (`fq-codel`; RFC 8290 §5.2.3: 1024).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<Whole<1, 65_536>>,
    /// Bytes that a queue sends in its turn (`fq-codel`; RFC 8290 §5.2.4: a largest packet).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Whole<256, 1_048_576>>,
}

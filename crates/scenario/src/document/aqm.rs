//! `[link.aqm]`: which of the packets that wait is served, dropped or marked.

use super::HOUR;
use crate::names::DisciplineName;
use airtcp_units::bounded::{MICROSECOND, Span, Whole};

keys! {
    /// A queue that looks after its own delay; how much may wait in it is said beside it.
    #[derive(Clone, Copy, Default)]
    pub struct AqmTable takes {
        /// Which one.
        discipline: DisciplineName = DisciplineName::default();
        /// Delay in the queue that is acceptable (RFC 8289 §4.4: 5 ms).
        target: Span<MICROSECOND, HOUR>;
        /// For how long the delay must be above that before a packet is dropped (RFC 8289 §4.3: 100
        /// ms).
        interval: Span<MICROSECOND, HOUR>;
        /// Packets whose endpoints agreed on it (`tcp.ecn`) are marked and not dropped. When
        /// left out, as in Linux: with `fq-codel` they are, with `codel` not.
        ecn: bool;
        /// Number of queues that flows are spread over (`fq-codel`; RFC 8290 §5.2.3: 1024).
        queues: Whole<1, 65_536>;
        /// Bytes that a queue sends in its turn (`fq-codel`; RFC 8290 §5.2.4: a largest packet).
        quantum: Whole<256, 1_048_576>;
    }
}

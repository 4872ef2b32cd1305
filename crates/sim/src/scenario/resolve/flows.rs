//! `[flows]`.

use airtcp_units::Duration;

use super::refuse;
use crate::scenario::Flows;
use crate::scenario::bounded::{Limit, Span, Whole, Within};
use crate::scenario::document::FlowsTable;
use crate::scenario::error::Problem;
use crate::scenario::names::Topology;

pub(super) fn resolve(
    table: &mut FlowsTable,
    topology: Topology,
    duration: Duration,
) -> Result<Flows, Problem> {
    let count = table.count.get_or_insert(Whole::clamped(1)).get_u32();
    let start_spread = table
        .start_spread
        .get_or_insert(Span::clamped(Duration::ZERO))
        .get();
    if start_spread > duration {
        return Err(Problem::at(
            "flows.start_spread",
            format!("expected at most the duration ({duration}), or flows would never start"),
        ));
    }
    let bytes = table
        .bytes
        .get_or_insert(Limit::Unlimited)
        .at()
        .map(|bytes| bytes.get().as_bytes());
    let access_delay = match topology {
        Topology::Pipe => {
            refuse(
                &table.access_delay,
                "flows.access_delay",
                "only a dumbbell has access lines; set topology = \"dumbbell\"",
            )?;
            Vec::new()
        }
        Topology::Dumbbell => {
            let delays = table
                .access_delay
                .get_or_insert_with(|| vec![Span::clamped(Duration::ZERO)]);
            delays.iter().copied().map(Within::get).collect()
        }
    };
    if topology == Topology::Dumbbell && access_delay.is_empty() {
        return Err(Problem::at(
            "flows.access_delay",
            "expected at least one delay, such as [\"5 ms\"]",
        ));
    }
    Ok(Flows {
        count,
        start_spread,
        bytes,
        access_delay,
    })
}

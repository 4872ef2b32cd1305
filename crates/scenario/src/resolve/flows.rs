//! `[flows]`.

use airtcp_units::Duration;

use super::refuse;
use crate::Flows;
use crate::document::{Directions, FlowsTable};
use crate::error::Problem;
use crate::names::{FlowDirection, Topology};
use airtcp_units::bounded::{Limit, Span, Whole, Within};

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
    let access_delay = if topology == Topology::Dumbbell {
        let delays = table
            .access_delay
            .get_or_insert_with(|| vec![Span::clamped(Duration::ZERO)]);
        if delays.is_empty() {
            return Err(Problem::at(
                "flows.access_delay",
                "expected at least one delay, such as [\"5 ms\"]",
            ));
        }
        delays.iter().copied().map(Within::get).collect()
    } else {
        refuse(
            &table.access_delay,
            "flows.access_delay",
            "only a dumbbell has access lines; set topology = \"dumbbell\"",
        )?;
        Vec::new()
    };
    let directions = match &table.direction {
        None => vec![FlowDirection::default()],
        Some(Directions::One(direction)) => vec![*direction],
        Some(Directions::Several(directions)) => directions.clone(),
    };
    if directions.is_empty() {
        return Err(Problem::at(
            "flows.direction",
            "expected at least one direction, such as [\"up\"]",
        ));
    }
    let unchanged = table.unchanged.map_or(0, Whole::get_u32);
    if unchanged > count {
        return Err(Problem::at(
            "flows.unchanged",
            format!("expected at most flows.count, which is {count}"),
        ));
    }
    Ok(Flows {
        count,
        unchanged,
        start_spread,
        bytes,
        access_delay,
        directions,
    })
}

//! The defaults of a scenario: a user's document, completed. Defaults of single tables are in
//! [`super::document`]; here are defaults from several tables or files.

mod link;
mod tcp;
mod wlan;

use std::path::Path;

use airtcp_units::Duration;
use airtcp_units::bounded::Span;
use airtcp_units::written::completed;

use super::document::keys::{Keys, Rule};
use super::document::{Document, FlowsTable, Media, WiredTable};
use super::error::Problem;
use super::inputs::Inputs;
use super::names::{CellStandard, Standard, Topology};

/// The document with the default of every key that applies and was left out. `source` names the
/// scenario.
///
/// # Errors
/// A table of `flows.tcp` does not fit together with `[tcp]`.
pub(super) fn complete(
    document: &Document,
    inputs: &Inputs,
    source: &str,
) -> Result<Document, Problem> {
    let stem = || match Path::new(source).file_stem() {
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => source.to_owned(),
    };
    let mut done = Media::completed(document);
    done.name = Some(done.name.unwrap_or_else(stem));
    done.description = Some(done.description.unwrap_or_default());
    done.flows = flows(&done.flows, document.topology());
    done.flows.tcp = tcp::own(done.flows.tcp.as_deref(), &document.tcp)?;
    done.link = done.link.map(|table| link::complete(&table, inputs));
    done.wlan = done.wlan.map(|table| wlan::complete(&table, &done.flows));
    done.wired = wired(&done);
    Ok(done.completed())
}

/// Flows of a dumbbell have access lines.
fn flows(table: &FlowsTable, topology: Topology) -> FlowsTable {
    let none = || vec![Span::clamped(Duration::ZERO)];
    FlowsTable {
        access_delay: match topology {
            Topology::Dumbbell => Some(table.access_delay.clone().unwrap_or_else(none)),
            _ => table.access_delay.clone(),
        },
        ..table.clone()
    }
}

/// A line that does not throttle 802.11n, ac and ax, LTE and NR: gigabit Ethernet, with Linux's
/// default queue length (`DEFAULT_TX_QUEUE_LEN`), which has room for the packets that an aggregate,
/// or the acknowledgments of an uplink grant, send at once.
const AGGREGATES_RATE: airtcp_units::BitRate = airtcp_units::BitRate::from_bps(1_000_000_000);
const AGGREGATES_QUEUE: u64 = 1_000;

/// The path beyond the access point. A pipe has it only on request, and a dumbbell not at all.
fn wired(document: &Document) -> Option<WiredTable> {
    let table = match document.topology() {
        Topology::Pipe | Topology::Dumbbell => document.wired?,
        _ => document.wired.unwrap_or_default(),
    };
    let loss = table.loss.map(|loss| loss.with_direction());
    let wlan = document.wlan.as_ref().map(|wlan| wlan.standard());
    let cell = document.cell.as_ref().map(|cell| cell.standard());
    let in_bunches = wlan.is_some_and(Standard::aggregates)
        || cell.is_some_and(|cell| cell != CellStandard::EvDo);
    if !in_bunches {
        return Some(WiredTable { loss, ..table });
    }
    Some(WiredTable {
        rate: completed(&table.rate, &Some(AGGREGATES_RATE)),
        queue: Some(table.queue.unwrap_or_default().or_packets(AGGREGATES_QUEUE)),
        loss,
        ..table
    })
}

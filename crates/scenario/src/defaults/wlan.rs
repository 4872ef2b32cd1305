//! `[wlan]`: defaults that the flows and the physical layer give.

use airtcp_link::mac::edca::{AccessCategory, AccessParameters};
use airtcp_link::phy::Phy;
use airtcp_units::written::completed;

use crate::document::keys::Keys;
use crate::document::{AggregationTable, CategoryTable, EdcaTable, FlowsTable, WlanTable};
use crate::names::AccessCategoryName;
use crate::resolve::edca::block_ack_window;
use crate::resolve::{modes, wlan};

/// The table with all its defaults. A physical layer that does not exist stays without them;
/// resolving reports it.
pub(super) fn complete(table: &WlanTable, flows: &FlowsTable) -> WlanTable {
    let aggregates = table.standard().aggregates();
    let usual = || vec![AccessCategoryName::BestEffort];
    let table = WlanTable {
        stations: completed::<u32, _>(&table.stations, &flows.count()),
        categories: match flows.dscp {
            None if aggregates => Some(table.categories.clone().unwrap_or_else(usual)),
            _ => table.categories.clone(),
        },
        ..table.clone()
    };
    let table = table.completed();
    let phy = if aggregates {
        modes::resolve(&table, table.standard()).map(|modes| modes.phy)
    } else {
        wlan::rates(&table).map(|(phy, _)| phy)
    };
    match phy {
        Ok(phy) if aggregates => WlanTable {
            aggregation: table.aggregation.map(|own| limits(&own, &phy)),
            edca: table.edca.map(|edca| access(&edca, &phy)),
            ..with_phy(table, &phy, phy.band().carrier_mhz())
        },
        Ok(phy) => {
            let (smallest, largest) = phy.contention_window();
            WlanTable {
                cw_min: completed::<u32, _>(&table.cw_min, &smallest),
                cw_max: completed::<u32, _>(&table.cw_max, &largest),
                ..with_phy(table, &phy, phy.standard().carrier_mhz())
            }
        }
        Err(_) => table,
    }
}

fn with_phy(table: WlanTable, phy: &Phy, carrier_mhz: f64) -> WlanTable {
    WlanTable {
        ack_timeout: completed(&table.ack_timeout, &phy.answer_timeout()),
        radio: table.radio.map(|radio| radio.at_carrier(carrier_mhz)),
        ..table
    }
}

/// The largest aggregate and block ACK window of the standard.
fn limits(table: &AggregationTable, phy: &Phy) -> AggregationTable {
    let family = phy.standard().family();
    AggregationTable {
        bytes: completed::<u32, _>(&table.bytes, &family.max_ampdu_bytes()),
        window: completed::<u32, _>(&table.window, &block_ack_window(family)),
        ..*table
    }
}

/// How access categories contend, by the standard.
fn access(table: &EdcaTable, phy: &Phy) -> EdcaTable {
    let of = |table: Option<CategoryTable>, category| {
        let usual = AccessParameters::usual(category, phy.contention_window());
        let table = table.unwrap_or_default();
        Some(CategoryTable {
            aifsn: completed(&table.aifsn, &usual.aifsn),
            cw_min: completed(&table.cw_min, &usual.smallest_window),
            cw_max: completed(&table.cw_max, &usual.largest_window),
            txop_limit: completed(&table.txop_limit, &usual.txop_limit),
        })
    };
    EdcaTable {
        background: of(table.background, AccessCategory::Background),
        best_effort: of(table.best_effort, AccessCategory::BestEffort),
        video: of(table.video, AccessCategory::Video),
        voice: of(table.voice, AccessCategory::Voice),
    }
}

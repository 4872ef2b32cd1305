//! `[tcp]`: a profile, and the settings that it has where keys are left out.

use airtcp_tcp::Config;
use airtcp_tcp::config::{ControlName, TcpTable};
use airtcp_units::written::Written;

/// The settings of keys that `table` leaves out.
pub(crate) fn usual(table: &TcpTable) -> Config {
    let profile = table.profile.unwrap_or_default();
    let mut usual = match table.congestion {
        Some(ControlName::Known(control)) => profile.config_with(control),
        _ => profile.config(),
    };
    if let Some(max) = table.max {
        // A ceiling that is set below the usual first timeout lowers it.
        usual.timeout.initial = usual.timeout.initial.min(max.get());
    }
    if let (Some(mss), Some(bytes)) = (table.mss, usual.initial_ssthresh) {
        // A profile's threshold is a number of its segments: ns-2's 20, of any size.
        let segments = bytes / u64::from(usual.mss.max(1));
        usual.initial_ssthresh = Some(segments * u64::from(mss.get_u32()));
    }
    usual
}

/// The table with every key.
pub(crate) fn completed(table: &TcpTable) -> TcpTable {
    let usual = usual(table);
    let has_sack = table.settings(&usual).sack;
    let all = Written::completed(table, &usual);
    TcpTable {
        profile: Some(table.profile.unwrap_or_default()),
        // Idle without SACK, but a remedy may still enable SACK.
        dsack: if has_sack { all.dsack } else { table.dsack },
        ..all
    }
}

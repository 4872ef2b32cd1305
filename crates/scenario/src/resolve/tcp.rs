//! `[tcp]`: a profile, and the settings that override it.

use airtcp_tcp::Config;
use airtcp_tcp::config::{ControlName, TcpTable, TimeoutConfig};
use toml::{Table, Value};

use crate::control;
use crate::error::Problem;
use crate::inputs::Inputs;

/// Bytes that the timestamps option takes of each segment (RFC 7323 §3.2, appendix A).
const TIMESTAMPS_BYTES: u32 = 12;
/// Largest IPv4 packet less the IPv4 and TCP headers without options.
const LARGEST_PAYLOAD: u32 = 65_495;

/// The endpoints of flows with a table in `flows.tcp`: a key that it leaves out is inherited from
/// `common`, the scenario's `[tcp]`. Fills in the defaults of both.
pub(super) fn resolve_own(
    tables: &mut Option<Vec<TcpTable>>,
    common: &TcpTable,
    inputs: &Inputs,
) -> Result<Vec<Config>, Problem> {
    let Some(tables) = tables else {
        return Ok(Vec::new());
    };
    if tables.is_empty() {
        return Err(Problem::at(
            key!(flows.tcp),
            "expected at least one table, such as [{ profile = \"linux\" }]",
        ));
    }
    let own = |(position, table): (usize, &mut TcpTable)| {
        let path = format!("flows.tcp[{position}]");
        *table = over(table, common)
            .map_err(|error| Problem::at(path.clone(), error.message().to_owned()))?;
        resolve(table, &path, inputs)
    };
    tables.iter_mut().enumerate().map(own).collect()
}

/// `own`, completed with the keys of `common`.
fn over(own: &TcpTable, common: &TcpTable) -> Result<TcpTable, toml::de::Error> {
    let keys = |table: &TcpTable| Table::try_from(table).unwrap_or_default();
    let mut merged = keys(common);
    if own.sack == Some(false) {
        // Options that build on SACK are not requested without it.
        merged.remove("dsack");
    }
    for (key, value) in keys(own) {
        match (merged.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(more)) => inner.extend(more),
            (_, value) => {
                merged.insert(key, value);
            }
        }
    }
    merged.try_into()
}

/// The endpoint's configuration; fills in the profile's settings. `path` is the table's.
pub(super) fn resolve(
    table: &mut TcpTable,
    path: &str,
    inputs: &Inputs,
) -> Result<Config, Problem> {
    let given = table.clone();
    let profile = *table.profile.get_or_insert_default();
    let mut usual = match given.congestion {
        Some(ControlName::Known(control)) => profile.config_with(control),
        _ => profile.config(),
    };
    if let Some(max) = given.max {
        // A ceiling that is set below the usual first timeout lowers it.
        usual.timeout.initial = usual.timeout.initial.min(max.get());
    }
    if let (Some(mss), Some(bytes)) = (given.mss, usual.initial_ssthresh) {
        // A profile's threshold is a number of its segments: ns-2's 20, of any size.
        let segments = bytes / u64::from(usual.mss.max(1));
        usual.initial_ssthresh = Some(segments * u64::from(mss.get_u32()));
    }
    let config = table.fill(&usual);
    if !config.sack {
        if given.dsack == Some(true) {
            return Err(Problem::at(
                key_of!(path, table.dsack),
                "needs selective acknowledgments, which carry it; set tcp.sack = true as well",
            ));
        }
        // Idle without SACK, but a remedy may still enable SACK.
        table.dsack = given.dsack;
    }
    let mut config = config;
    control::set(&mut config, table, path, &inputs.files)?;
    check(&config, AskedBy::Table(path))?;
    Ok(config)
}

/// The origin of a requested configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AskedBy<'a> {
    /// The keys of the table at this path.
    Table(&'a str),
    /// Another key, which overrides tables.
    Key(&'a str),
}

/// Settings that no endpoint supports.
pub(crate) fn check(config: &Config, asked_by: AskedBy<'_>) -> Result<(), Problem> {
    control::check(config)?;
    let problem = |key: &str, message: String| match asked_by {
        AskedBy::Table(path) => Problem::at(format!("{path}.{key}"), message),
        AskedBy::Key(asked) => Problem::at(asked, format!("tcp.{key}: {message}")),
    };
    let TimeoutConfig {
        min, max, initial, ..
    } = config.timeout;
    if max < min {
        return Err(problem(
            "max_rto",
            format!("expected at least tcp.min_rto, which is {min}; change one of them"),
        ));
    }
    if initial > max {
        return Err(problem(
            "initial_rto",
            format!("expected at most tcp.max_rto, which is {max}; change one of them"),
        ));
    }
    let options = if config.timestamps {
        TIMESTAMPS_BYTES
    } else {
        0
    };
    if config.mss > LARGEST_PAYLOAD - options {
        return Err(problem(
            "mss",
            format!(
                "expected at most {} with timestamps, which take {options} bytes of a segment",
                LARGEST_PAYLOAD - options
            ),
        ));
    }
    Ok(())
}

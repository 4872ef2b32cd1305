//! `[tcp]`: a profile, and the settings that override it.

use airtcp_tcp::Config;
use airtcp_tcp::config::{TcpTable, TimeoutConfig};

use crate::control;
use crate::endpoint;
use crate::error::Problem;
use crate::inputs::Inputs;

/// Bytes that the timestamps option takes of each segment (RFC 7323 §3.2, appendix A).
const TIMESTAMPS_BYTES: u32 = 12;
/// Largest IPv4 packet less the IPv4 and TCP headers without options.
const LARGEST_PAYLOAD: u32 = 65_495;

/// The endpoints of flows with a table in `flows.tcp`.
pub(super) fn resolve_own(
    tables: Option<&[TcpTable]>,
    inputs: &Inputs,
) -> Result<Vec<Config>, Problem> {
    if tables.is_some_and(<[_]>::is_empty) {
        return Err(Problem::at(
            key!(flows.tcp),
            "expected at least one table, such as [{ profile = \"linux\" }]",
        ));
    }
    let own = |(position, table)| resolve(table, &format!("flows.tcp[{position}]"), inputs);
    let tables = tables.unwrap_or_default();
    tables.iter().enumerate().map(own).collect()
}

/// The endpoint's configuration. `path` is the table's.
pub(super) fn resolve(table: &TcpTable, path: &str, inputs: &Inputs) -> Result<Config, Problem> {
    let mut config = table.settings(&endpoint::usual(table));
    if !config.sack && table.dsack == Some(true) {
        return Err(Problem::at(
            key_of!(path, table.dsack),
            "needs selective acknowledgments, which carry it; set tcp.sack = true as well",
        ));
    }
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

//! `flows.tcp`: a key that is left out is inherited from `[tcp]`.

use airtcp_tcp::config::TcpTable;
use toml::{Table, Value};

use crate::error::Problem;

/// The tables of the flows, completed with the keys of `common`.
pub(super) fn own(
    tables: Option<&[TcpTable]>,
    common: &TcpTable,
) -> Result<Option<Vec<TcpTable>>, Problem> {
    let Some(tables) = tables else {
        return Ok(None);
    };
    let own = |(position, table)| {
        let refused = |error: toml::de::Error| {
            Problem::at(format!("flows.tcp[{position}]"), error.message().to_owned())
        };
        let table = over(table, common).map_err(refused)?;
        Ok(crate::endpoint::completed(&table))
    };
    tables
        .iter()
        .enumerate()
        .map(own)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// One of them, completed with the keys of `common`.
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

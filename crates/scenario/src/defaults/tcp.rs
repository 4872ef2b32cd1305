//! `flows.tcp`: a key that is left out is inherited from `[tcp]`.

use airtcp_tcp::config::TcpTable;
use serde_json::Value;

use crate::document::forms;
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
        let refused = |message| Problem::at(format!("flows.tcp[{position}]"), message);
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
fn over(own: &TcpTable, common: &TcpTable) -> Result<TcpTable, String> {
    let mut merged = forms::to_json(common);
    if own.sack == Some(false) {
        // Options that build on SACK are not requested without it.
        merged.remove("dsack");
    }
    for (key, value) in forms::to_json(own) {
        match (merged.get_mut(&key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => inner.extend(more),
            (_, value) => {
                merged.insert(key, value);
            }
        }
    }
    forms::from_json(merged.into()).map_err(|error| error.into_inner().to_string())
}

//! Keys of earlier versions, read under their present names.

use toml::{Table, Value};

use super::error::Problem;

/// Regular stops, up to version 0.2.
const SUSPENSION: &str = "suspension";
/// The table that has taken its keys.
const STOPS: &str = "stops";

/// Renames the keys of earlier versions in a scenario's text. Returns a warning of each.
///
/// # Errors
/// A table under its earlier name and its present one.
pub(super) fn in_text(given: &mut Table) -> Result<Option<&'static str>, Problem> {
    let link = given.get("link").and_then(Value::as_table);
    if link.is_some_and(|link| link.contains_key(SUSPENSION) && link.contains_key(STOPS)) {
        let why = "is link.stops now, which is given, too; remove one of them";
        return Err(Problem::at("link.suspension", why));
    }
    Ok(in_settings(given))
}

/// Renames the keys of earlier versions that a setting has added, in place of what the text says.
/// Returns a warning of each.
pub(super) fn in_settings(given: &mut Table) -> Option<&'static str> {
    let link = given.get_mut("link")?.as_table_mut()?;
    let suspension = link.remove(SUSPENSION)?;
    let Value::Table(keys) = suspension else {
        // Its error names the present table.
        link.insert(STOPS.to_owned(), suspension);
        return None;
    };
    let stops = link.entry(STOPS).or_insert_with(|| Table::new().into());
    if let Some(stops) = stops.as_table_mut() {
        stops.extend(keys);
    }
    Some("link.suspension: is link.stops now, with the same every and length; write that")
}

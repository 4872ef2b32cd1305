//! Keys of earlier versions, read under their present names.

use toml::{Table, Value};

use super::error::Problem;

/// A key of a table that has another name now.
struct Renamed {
    table: &'static str,
    earlier: &'static str,
    present: &'static str,
    /// Both with their table.
    keys: [&'static str; 2],
    warning: &'static str,
}

/// Up to version 0.2.
const RENAMED: [Renamed; 2] = [
    Renamed {
        table: "link",
        earlier: "suspension",
        present: "stops",
        keys: ["link.suspension", "link.stops"],
        warning: "link.suspension: is link.stops now, with the same every and length; write that",
    },
    Renamed {
        table: "flows",
        earlier: "beside",
        present: "under_load",
        keys: ["flows.beside", "flows.under_load"],
        warning: "flows.beside: is flows.under_load now, with the same names; write that",
    },
];

/// Renames the keys of earlier versions in a scenario's text. Returns a warning of each.
///
/// # Errors
/// A key under its earlier name and its present one.
pub(super) fn in_text(given: &mut Table) -> Result<Vec<&'static str>, Problem> {
    for one in &RENAMED {
        let table = given.get(one.table).and_then(Value::as_table);
        if table
            .is_some_and(|keys| keys.contains_key(one.earlier) && keys.contains_key(one.present))
        {
            let [earlier, present] = one.keys;
            let why = format!("is {present} now, which is given, too; remove one of them");
            return Err(Problem::at(earlier, why));
        }
    }
    Ok(in_settings(given))
}

/// Renames the keys of earlier versions that a setting has added, in place of what the text says.
/// Returns a warning of each.
pub(super) fn in_settings(given: &mut Table) -> Vec<&'static str> {
    RENAMED
        .iter()
        .filter(|one| {
            let table = given.get_mut(one.table).and_then(Value::as_table_mut);
            table.is_some_and(|keys| rename(keys, one))
        })
        .map(|one| one.warning)
        .collect()
}

/// Returns whether the key was there, with a value of its kind; the error of another names the
/// present key.
fn rename(keys: &mut Table, one: &Renamed) -> bool {
    match (keys.remove(one.earlier), keys.get_mut(one.present)) {
        (None, _) => false,
        (Some(Value::Table(given)), Some(Value::Table(known))) => {
            known.extend(given);
            true
        }
        (Some(given), _) => {
            let is_known_kind = given.is_table() || given.is_array();
            keys.insert(one.present.to_owned(), given);
            is_known_kind
        }
    }
}

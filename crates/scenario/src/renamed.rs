//! Keys of earlier versions, read under their present names.

use toml::{Table, Value};

use super::error::Problem;

/// A key of a table that has another name now.
struct Renamed {
    table: &'static str,
    earlier: &'static str,
    /// The last step is the key's, and those before it are tables inside `table`.
    present: &'static [&'static str],
    /// Both with their table.
    keys: [&'static str; 2],
    warning: &'static str,
}

/// A key that has another name in the same table, with the words that follow its warning's name.
macro_rules! renamed {
    ($table:literal, $earlier:literal, $present:literal, $same:literal) => {
        Renamed {
            table: $table,
            earlier: $earlier,
            present: &[$present],
            keys: [
                concat!($table, ".", $earlier),
                concat!($table, ".", $present),
            ],
            warning: concat!(
                $table,
                ".",
                $earlier,
                ": is ",
                $table,
                ".",
                $present,
                " now, with the same ",
                $same,
                "; write that"
            ),
        }
    };
}

/// A key of `[tcp]` that is one of `[tcp.quirks]`.
macro_rules! quirk {
    ($key:literal) => {
        Renamed {
            table: "tcp",
            earlier: $key,
            present: &["quirks", $key],
            keys: [concat!("tcp.", $key), concat!("tcp.quirks.", $key)],
            warning: concat!("tcp.", $key, ": is tcp.quirks.", $key, " now; write that"),
        }
    };
}

/// Up to version 0.2.
const RENAMED: [Renamed; 18] = [
    renamed!("link", "suspension", "stops", "every and length"),
    renamed!("flows", "beside", "under_load", "names"),
    quirk!("timestamps_required"),
    quirk!("duplicate_counting"),
    quirk!("slow_start_limit_after_timeout"),
    quirk!("growth_credit"),
    quirk!("partial_ack_timer"),
    quirk!("timer_restart"),
    quirk!("reported_rtt"),
    quirk!("judged_rtt"),
    quirk!("late_reports"),
    quirk!("duplicate_reports"),
    quirk!("reneging"),
    quirk!("push"),
    quirk!("short_trains"),
    quirk!("handshake_ack"),
    quirk!("repeated_syn"),
    quirk!("window_reopening"),
];

/// Renames the keys of earlier versions in a scenario's text. Returns a warning of each.
///
/// # Errors
/// A key under its earlier name and its present one.
pub(super) fn in_text(given: &mut Table) -> Result<Vec<&'static str>, Problem> {
    for one in &RENAMED {
        if tables(given, one.table)
            .iter()
            .any(|keys| keys.contains_key(one.earlier) && has(keys, one.present))
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
            // Each table is renamed, whether or not an earlier one was.
            tables(given, one.table)
                .into_iter()
                .fold(false, |was, keys| rename(keys, one) | was)
        })
        .map(|one| one.warning)
        .collect()
}

/// The tables with the keys of `[name]`: flows have theirs in `flows.tcp`.
fn tables<'t>(given: &'t mut Table, name: &str) -> Vec<&'t mut Table> {
    let mut found = Vec::new();
    for (key, value) in given.iter_mut() {
        if key == name {
            found.extend(value.as_table_mut());
        } else if key == "flows" && name == "tcp" {
            let flows = value.as_table_mut().and_then(|flows| flows.get_mut("tcp"));
            let own = flows.and_then(Value::as_array_mut).into_iter().flatten();
            found.extend(own.filter_map(Value::as_table_mut));
        }
    }
    found
}

/// Whether the key at the end of `steps` is there.
fn has(keys: &Table, steps: &[&str]) -> bool {
    match steps {
        [] => false,
        [last] => keys.contains_key(*last),
        [step, inner @ ..] => keys
            .get(*step)
            .and_then(Value::as_table)
            .is_some_and(|keys| has(keys, inner)),
    }
}

/// Returns whether the key was there, with a value of its kind; the error of another names the
/// present key.
fn rename(keys: &mut Table, one: &Renamed) -> bool {
    let (Some(given), Some((last, steps))) = (keys.remove(one.earlier), one.present.split_last())
    else {
        return false;
    };
    let mut inner = keys;
    for step in steps {
        let entry = inner
            .entry(*step)
            .or_insert_with(|| Value::Table(Table::new()));
        let Some(table) = entry.as_table_mut() else {
            // The error names the key that is no table.
            return false;
        };
        inner = table;
    }
    match (given, inner.get_mut(*last)) {
        (Value::Table(given), Some(Value::Table(known))) => {
            known.extend(given);
            true
        }
        (given, _) => {
            let is_known_kind = !steps.is_empty() || given.is_table() || given.is_array();
            inner.insert((*last).to_owned(), given);
            is_known_kind
        }
    }
}

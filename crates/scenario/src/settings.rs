//! Single keys set from outside the file: `--set link.loss.rate=0.01`.

use std::path::Path;

use toml::{Table, Value};

use super::document::Document;
use super::error::{Problem, shortened};

/// The deepest key there is has three steps; this leaves room to name a wrong one in an error.
const MAX_STEPS: usize = 8;

/// Sets the dotted `key` to `value`: a TOML value if it parses as one, and text otherwise. Missing
/// tables are created. `folder` holds the scenario's files.
///
/// # Errors
/// A key with an empty step, too many steps, or below something that is not a table.
pub(super) fn set(table: &mut Table, key: &str, value: &str, folder: &Path) -> Result<(), Problem> {
    let steps: Vec<&str> = key.split('.').collect();
    if steps.len() > MAX_STEPS || steps.iter().any(|step| step.trim().is_empty()) {
        let key = shortened(key);
        return Err(Problem::of_all(format!(
            "setting {key:?}: expected a key such as link.loss.rate"
        )));
    }
    let (last, tables) = match steps.split_last() {
        Some((last, tables)) => (*last, tables),
        None => ("", &[][..]),
    };
    let mut inner = table;
    for (depth, step) in tables.iter().enumerate() {
        let entry = inner
            .entry(step.trim())
            .or_insert_with(|| Value::Table(Table::new()));
        inner = entry.as_table_mut().ok_or_else(|| {
            let upper = steps[..=depth].join(".");
            Problem::at(
                upper.clone(),
                format!("is no table; {upper}.{last} cannot be set in it"),
            )
        })?;
    }
    let value = if Document::file_keys().iter().any(|file| file == key) {
        file(value, folder)
    } else {
        parsed(value)
    };
    inner.insert(last.trim().to_owned(), value);
    Ok(())
}

/// `text` as a TOML value, or as text if it does not parse.
fn parsed(text: &str) -> Value {
    // A line break could smuggle in further keys.
    let one_line = !text.contains(['\n', '\r']);
    let table = one_line
        .then(|| format!("value = {text}").parse::<Table>().ok())
        .flatten();
    table
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// A file named on a command line is looked up in the current folder first, like any other file
/// there, and then next to the scenario.
fn file(text: &str, folder: &Path) -> Value {
    let unquoted = match parsed(text) {
        Value::String(unquoted) => unquoted,
        _ => text.to_owned(),
    };
    let path = Path::new(&unquoted);
    let only_in_folder = !path.exists() && folder.join(path).exists();
    match std::path::absolute(path) {
        Ok(absolute) if !only_in_folder && !unquoted.is_empty() => {
            Value::String(absolute.to_string_lossy().into_owned())
        }
        _ => Value::String(unquoted),
    }
}

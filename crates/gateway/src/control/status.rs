//! `airtcp gateway status`.

use std::fs;
use std::io::Write;

use airtcp_host::daemon::status::STATUS;
use airtcp_host::error::{Error, Result, Tried};
use serde_json::Value;

use super::control_socket::ask;
use crate::options::Status;

/// Prints each gateway's report. The status is 1 if there is no gateway.
///
/// # Errors
/// The folder cannot be read, or a gateway does not answer.
pub fn run(options: &Status) -> Result<i32> {
    let mut sockets: Vec<_> = match fs::read_dir(&options.state) {
        Ok(entries) => entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect(),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(cause) => {
            let tried = format!("cannot read {}", options.state.display());
            return Err(Error::system(tried, cause));
        }
    };
    sockets.sort();
    let mut found = 0;
    for path in sockets {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("gateway-") || !name.ends_with(".sock") {
            continue;
        }
        let Some(answer) = ask(&path, STATUS)? else {
            continue;
        };
        let answer: Value = serde_json::from_str(&answer)
            .map_err(|error| Error::new(format!("{}: {error}", path.display())))?;
        found += 1;
        let text = if options.json {
            format!("{}\n", answer["report"])
        } else {
            answer["text"].as_str().unwrap_or_default().to_owned()
        };
        std::io::stdout()
            .write_all(text.as_bytes())
            .tried(|| "cannot print".to_owned())?;
    }
    if found == 0 {
        eprintln!("airtcp-net: no gateway runs here");
    }
    Ok(i32::from(found == 0))
}

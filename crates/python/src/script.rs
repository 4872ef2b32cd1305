//! Scripts in packetdrill's language, and their profiles.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use airtcp_script::Verdict;
use airtcp_tcp::Profile;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::run::LISTENING_INTERVAL;

/// The named stacks: name and summary of each.
#[pyfunction]
pub fn profiles() -> Vec<(&'static str, &'static str)> {
    Profile::ALL
        .into_iter()
        .map(|profile| (profile.name(), profile.summary()))
        .collect()
}

/// Settings that a passed script requested, but were skipped.
fn note(script: &airtcp_script::Script) -> String {
    match airtcp_script::skipped_settings(script) {
        skipped if skipped.is_empty() => String::new(),
        skipped => format!("settings of BSD that were skipped: {}", skipped.join(", ")),
    }
}

/// Runs the script `text`, named `name`, on the stack `profile`. Returns "passed", "failed",
/// "unsupported" or "unreadable", the line concerned, and a message. Ctrl-C ends it.
#[pyfunction]
pub fn script(
    py: Python<'_>,
    name: &str,
    text: &str,
    profile: &str,
) -> PyResult<(&'static str, usize, String)> {
    let chosen = Profile::ALL
        .into_iter()
        .find(|one| one.name() == profile)
        .ok_or_else(|| {
            let names = Profile::ALL.map(Profile::name).join(", ");
            PyValueError::new_err(format!(
                "unknown profile {profile:?}: expected one of {names}"
            ))
        })?;
    let script = match py.detach(|| airtcp_script::parse(name, text)) {
        Ok(script) => script,
        Err(error) => return Ok(("unreadable", error.line, error.message)),
    };
    let config = chosen.config();
    let (verdict, raised) = py.detach(|| {
        let raised = RefCell::new(None);
        let heard = Cell::new(Instant::now());
        let goes_on = || {
            if heard.get().elapsed() < LISTENING_INTERVAL {
                return true;
            }
            heard.set(Instant::now());
            let answer = Python::attach(|py| py.check_signals());
            answer.map_err(|error| raised.replace(Some(error))).is_ok()
        };
        let verdict = airtcp_script::run_while(&script, &config, &goes_on);
        (verdict, raised.into_inner())
    });
    match (verdict, raised) {
        (_, Some(error)) => Err(error),
        (None | Some(Verdict::Passed), None) => Ok(("passed", 0, note(&script))),
        (Some(Verdict::Failed { line, report }), None) => Ok(("failed", line, report)),
        (Some(Verdict::Unsupported { line, what }), None) => Ok(("unsupported", line, what)),
    }
}

//! Scripts in packetdrill's language, and the profiles they run on.

use airtcp_script::Verdict;
use airtcp_tcp::Profile;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The named stacks: name and summary of each.
#[pyfunction]
pub fn profiles() -> Vec<(&'static str, &'static str)> {
    Profile::ALL
        .into_iter()
        .map(|profile| (profile.name(), profile.summary()))
        .collect()
}

/// Runs the script `text`, named `name`, on the stack `profile`. Returns "passed", "failed",
/// "unsupported" or "unreadable", the line it is about, and what there is to say.
#[pyfunction]
pub fn script(name: &str, text: &str, profile: &str) -> PyResult<(&'static str, usize, String)> {
    let chosen = Profile::ALL
        .into_iter()
        .find(|one| one.name() == profile)
        .ok_or_else(|| {
            let names = Profile::ALL.map(Profile::name).join(", ");
            PyValueError::new_err(format!(
                "unknown profile {profile:?}: expected one of {names}"
            ))
        })?;
    let script = match airtcp_script::parse(name, text) {
        Ok(script) => script,
        Err(error) => return Ok(("unreadable", error.line, error.message)),
    };
    Ok(match airtcp_script::run(&script, &chosen.config()) {
        Verdict::Passed => ("passed", 0, String::new()),
        Verdict::Failed { line, report } => ("failed", line, report),
        Verdict::Unsupported { line, what } => ("unsupported", line, what),
    })
}

//! The program ip(8) of iproute2.

use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// Runs ip-route(8) in the calling thread's namespace.
///
/// # Errors
///
/// It is missing, or its message on failure.
pub fn ip(is_v6: bool, words: &[&str]) -> Result<String> {
    let output = Command::new("ip")
        .args(["-o", if is_v6 { "-6" } else { "-4" }])
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| {
            Error::system("cannot run ip", cause).remedied_by("install it: apt install iproute2")
        })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::new(format!(
        "ip {}: {}",
        words.join(" "),
        said.trim()
    )))
}

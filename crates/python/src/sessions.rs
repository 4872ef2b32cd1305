//! Best start's file of past sessions.

use std::path::PathBuf;

use airtcp_sessions::{Limits, Sessions};
use pyo3::prelude::*;

/// The initial window towards `peer` at `at` (Unix seconds, on clocks `offset` seconds ahead of
/// UTC), in segments, and warnings.
#[pyfunction]
pub fn session_window(
    file: PathBuf,
    peer: &str,
    at: i64,
    offset: i32,
) -> (Option<u32>, Vec<String>) {
    let (sessions, warning) = Sessions::open(&file, Limits::default());
    let mut warnings: Vec<_> = warning.iter().map(ToString::to_string).collect();
    let window = sessions
        .initial_window(peer, at, offset)
        .unwrap_or_else(|warning| {
            warnings.push(warning.to_string());
            None
        });
    (window, warnings)
}

/// Records that a session with `peer` ended at `at` with a steady window of `window` segments;
/// returns warnings.
#[pyfunction]
pub fn record_session(file: PathBuf, peer: &str, at: i64, offset: i32, window: u32) -> Vec<String> {
    let (mut sessions, warning) = Sessions::open(&file, Limits::default());
    let mut warnings: Vec<_> = warning.iter().map(ToString::to_string).collect();
    if let Err(warning) = sessions.record(peer, at, offset, window) {
        warnings.push(warning.to_string());
    }
    warnings
}

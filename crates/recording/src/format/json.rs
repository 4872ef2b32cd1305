//! JSON as programs write it, whole, with errors that name the line.

use serde::de::DeserializeOwned;

use airtcp_units::Duration;

use super::milliseconds::in_ms;
use crate::fault::TraceError;
use crate::source::Source;

/// Bytes at the beginning of a file in which its keys are searched for: objects of results may
/// begin with long metadata.
const SNIFFED_BYTES: usize = 1 << 20;

/// Whether a file begins as an object with these keys.
pub(super) fn begins_as_object(bytes: &[u8], keys: &[&str]) -> bool {
    let begin = bytes.trim_ascii_start();
    let shown = &begin[..begin.len().min(SNIFFED_BYTES)];
    begin.starts_with(b"{")
        && keys.iter().all(|key| {
            let quoted = format!("\"{key}\"");
            shown
                .windows(quoted.len())
                .any(|window| window == quoted.as_bytes())
        })
}

/// The whole file as `T`.
pub(super) fn from_json<T: DeserializeOwned>(
    bytes: &[u8],
    source: Source<'_>,
) -> Result<T, TraceError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let line = error.line().max(1);
        let text = bytes.split(|byte| *byte == b'\n').nth(line - 1);
        let from = error.column().saturating_sub(20);
        let near = text.and_then(|text| text.get(from.min(text.len())..));
        let found = near.unwrap_or_default();
        let (expected, remedy) = if error.is_eof() {
            (
                "whole JSON",
                "copy the file again when its program has ended",
            )
        } else {
            (
                "JSON as its program writes it",
                "give the file as its program wrote it",
            )
        };
        source.malformed(line as u64, found, expected, remedy)
    })
}

/// A round trip in milliseconds.
pub(super) fn milliseconds(ms: f64, source: Source<'_>) -> Result<Duration, TraceError> {
    in_ms(Some(ms), ms.to_string().as_bytes(), 1, source)
}

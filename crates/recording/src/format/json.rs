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

/// Words that programs write for a missing number, although JSON lacks them (RFC 8259 §6).
const NO_NUMBERS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];

/// The whole file as `T`; one of these words is missing.
pub(super) fn from_json<T: DeserializeOwned>(
    bytes: &[u8],
    source: Source<'_>,
) -> Result<T, TraceError> {
    let cleaned = with_nulls(bytes);
    let read = cleaned.as_deref().unwrap_or(bytes);
    serde_json::from_slice(read).map_err(|error| {
        let line = error.line().max(1);
        let text = read.split(|byte| *byte == b'\n').nth(line - 1);
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

/// The file with `null` in place of values that are no numbers; `None` without such values.
fn with_nulls(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_any = |word: &&[u8]| bytes.windows(word.len()).any(|window| window == *word);
    NO_NUMBERS.iter().find(|word| is_any(word))?;
    let mut cleaned = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut is_in_string = false;
    while let Some((&byte, behind)) = rest.split_first() {
        let word = NO_NUMBERS.iter().find(|word| rest.starts_with(word));
        match (is_in_string, word, byte) {
            (false, Some(word), _) => {
                cleaned.extend_from_slice(b"null");
                rest = &rest[word.len()..];
                continue;
            }
            (true, _, b'\\') => {
                let escaped = rest.len().min(2);
                cleaned.extend_from_slice(&rest[..escaped]);
                rest = &rest[escaped..];
                continue;
            }
            (_, _, b'"') => is_in_string = !is_in_string,
            _ => {}
        }
        cleaned.push(byte);
        rest = behind;
    }
    Some(cleaned)
}

/// A round trip in milliseconds.
pub(super) fn milliseconds(ms: f64, source: Source<'_>) -> Result<Duration, TraceError> {
    in_ms(Some(ms), ms.to_string().as_bytes(), 1, source)
}

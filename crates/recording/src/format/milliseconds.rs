//! A round-trip time, as logs write it.

use airtcp_units::Duration;

use crate::fault::TraceError;
use crate::source::Source;

/// Round-trip times above this are considered a mistake in the unit.
const MAX_MS: f64 = 3_600_000.0;

/// The round-trip time that `text` gives in milliseconds.
pub(super) fn parse_ms(text: &[u8], line: u64, source: Source<'_>) -> Result<Duration, TraceError> {
    let ms = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.trim().parse::<f64>().ok());
    in_ms(ms, text, line, source)
}

/// A round trip of `ms` milliseconds, if valid; errors quote `text`.
pub(super) fn in_ms(
    ms: Option<f64>,
    text: &[u8],
    line: u64,
    source: Source<'_>,
) -> Result<Duration, TraceError> {
    ms.filter(|ms| (0.0..=MAX_MS).contains(ms))
        .map(|ms| Duration::from_nanos((ms * 1e6).round() as u64))
        .ok_or_else(|| {
            source.malformed(
                line,
                text,
                "a round-trip time in milliseconds between 0 and 3600000",
                "correct or remove the line",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows prints whole milliseconds, others three decimals; the maximum is an hour.
    #[test]
    fn times_are_read_to_the_nanosecond() {
        let read = |text: &str| parse_ms(text.as_bytes(), 1, Source::new("x"));
        for (text, nanos) in [
            ("12", 12_000_000),
            (" 0.043 ", 43_000),
            ("3600000", 3_600_000_000_000),
        ] {
            assert_eq!(read(text).unwrap(), Duration::from_nanos(nanos), "{text}");
        }
        for text in ["", "3600001", "-1", "nan", "12 ms"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}

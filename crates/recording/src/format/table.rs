//! Tables as spreadsheets export them: separators, decimals with a comma, names of columns.
//!
//! Where a comma begins the decimals, fields are separated by semicolons or tabs.

use super::stamp::stamp;
use crate::source::lines;

/// Names of columns with times, in lower case and without their unit, the first preferred.
pub(super) const TIMES: [&str; 18] = [
    "time",
    "sent",
    "timestamp",
    "ts",
    "t",
    "elapsed",
    "seconds",
    "second",
    "sec",
    "zeit",
    "zeitstempel",
    "zeitpunkt",
    "uhrzeit",
    "sekunden",
    "temps",
    "tiempo",
    "tempo",
    "horodatage",
];

/// The table that follows a line `sep=;`, by which a spreadsheet names the separator, and the
/// number of lines until then.
pub(super) fn body(bytes: &[u8]) -> (&[u8], u64) {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut first = bytes.splitn(2, |&byte| byte == b'\n');
    let (line, rest) = (first.next().unwrap_or_default(), first.next());
    let line = line.trim_ascii();
    let quoted = line
        .strip_prefix(b"\"")
        .and_then(|text| text.strip_suffix(b"\""));
    let text = quoted.unwrap_or(line);
    match rest {
        Some(rest) if text.len() == 5 && text[..4].eq_ignore_ascii_case(b"sep=") => (rest, 1),
        _ => (bytes, 0),
    }
}

/// The first line of a table that is not blank.
pub(super) fn header(bytes: &[u8]) -> Option<&[u8]> {
    let mut found = lines(body(bytes).0).filter(|(_, text)| !text.is_empty());
    found.next().map(|(_, text)| text)
}

/// A number; with `has_comma`, its decimals may begin with a comma, and dots then group thousands.
/// Where commas separate, a field with one was quoted: three digits behind it may be thousands, so
/// that only other counts are decimals.
pub(super) fn number(text: &str, has_comma: bool) -> Option<f64> {
    if let Some((whole, decimals)) = text.split_once(',').filter(|_| !has_comma) {
        let is_decimal = decimals.len() != 3 && !whole.contains('.');
        return is_decimal.then(|| format!("{whole}.{decimals}").parse().ok())?;
    }
    if has_comma && text.contains(',') {
        return text.replace('.', "").replacen(',', ".", 1).parse().ok();
    }
    text.parse().ok()
}

/// A time in seconds of any origin: a number of units, or a stamp.
pub(super) fn seconds(text: &str, unit_s: f64, has_comma: bool) -> Option<f64> {
    /// Times above this are no seconds.
    const LAST_S: f64 = 1e10;
    let stamped = || {
        let text = if has_comma {
            text.replacen(',', ".", 1)
        } else {
            text.to_owned()
        };
        Some(stamp(&text)?.nanos as f64 / 1e9)
    };
    number(text, has_comma)
        .map(|time| time * unit_s)
        .or_else(stamped)
        .filter(|time| (0.0..LAST_S).contains(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_begins_decimals_only_where_it_separates_nothing() {
        for (text, has_comma, expected) in [
            ("31,5", true, Some(31.5)),
            ("1.031,5", true, Some(1031.5)),
            ("31.5", true, Some(31.5)),
            ("31,5", false, Some(31.5)),
            ("1,031", false, None),
            ("1.0,5", false, None),
            ("1,2,3", false, None),
            ("1,2,3", true, None),
        ] {
            assert_eq!(number(text, has_comma), expected, "{text}");
        }
    }

    #[test]
    fn a_spreadsheets_hint_is_no_header() {
        assert_eq!(body(b"sep=;\r\nZeit;RTT\r\n"), (&b"Zeit;RTT\r\n"[..], 1));
        assert_eq!(body(b"\xef\xbb\xbf\"sep=;\"\nt\n"), (&b"t\n"[..], 1));
        assert_eq!(body(b"sep=ab\nt\n"), (&b"sep=ab\nt\n"[..], 0));
        assert_eq!(header(b"sep=;\n\nZeit;RTT\n"), Some(&b"Zeit;RTT"[..]));
    }

    #[test]
    fn times_are_numbers_or_stamps() {
        assert_eq!(seconds("1500,5", 1e-3, true), Some(1.5005));
        assert_eq!(
            seconds("27.11.2024 09:33:20,5", 1.0, true),
            Some(1_732_700_000.5)
        );
        assert_eq!(seconds("yesterday", 1.0, true), None);
    }
}

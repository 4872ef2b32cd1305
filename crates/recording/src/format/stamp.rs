//! The time at the beginning of a line: `ping -D`, `fping -D`, `ts`, `date` in a loop.
//!
//! `[1732700000.013063]`, `1732700000.013`, `2024-11-27T10:33:20.013`, `2024-11-27 10:33:20`,
//! `27.11.2024 10:33:20`, `[10:33:20.013]`, `10:33:20`. Dates without a zone are taken as UTC: only
//! differences and the hour of the day are used.

use crate::probes::Stamp;

/// Seconds since 1970 below which a number is no date: 2001-09-09.
const FIRST_UNIX_S: f64 = 1e9;
const LAST_UNIX_S: f64 = 1e10;
const SECOND_NS: u64 = 1_000_000_000;

/// The stamp with which a line begins, if it does.
pub(super) fn stamp(line: &str) -> Option<Stamp> {
    let line = line.trim_start().trim_start_matches('[');
    let end = line
        .find(|c: char| !(c.is_ascii_digit() || ".:-T".contains(c)))
        .unwrap_or(line.len());
    let (first, rest) = line.split_at(end);
    if let Some(stamp) = unix(first) {
        return Some(stamp);
    }
    if let Some((date, time)) = first.split_once('T') {
        return dated(date, time);
    }
    if first.contains(':') {
        return clock(first);
    }
    let time = rest.trim_start().split([' ', ']', ',', '+', 'Z']).next()?;
    dated(first, time)
}

fn unix(text: &str) -> Option<Stamp> {
    let seconds: f64 = text.parse().ok()?;
    if !(FIRST_UNIX_S..LAST_UNIX_S).contains(&seconds) {
        return None;
    }
    // Digits, not the float, which has a quarter of a microsecond here.
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    Some(Stamp {
        nanos: whole.parse::<u64>().ok()?.checked_mul(SECOND_NS)? + fraction(part)?,
        is_dated: true,
        is_fine: !part.is_empty(),
    })
}

fn dated(date: &str, time: &str) -> Option<Stamp> {
    let mut fields = date.split(['-', '.']).map(str::parse::<i64>);
    let (first, month, last) = (
        fields.next()?.ok()?,
        fields.next()?.ok()?,
        fields.next()?.ok()?,
    );
    let (year, day) = if date.contains('.') && last > 31 {
        (last, first)
    } else {
        (first, last)
    };
    if !(1970..=2200).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let of_day = clock(time)?;
    let days = u64::try_from(days_since_1970(year, month, day)).ok()?;
    Some(Stamp {
        nanos: days * 86_400 * SECOND_NS + of_day.nanos,
        is_dated: true,
        is_fine: of_day.is_fine,
    })
}

fn clock(text: &str) -> Option<Stamp> {
    let mut fields = text.trim_end_matches(':').split(':');
    let (hour, minute, second) = (fields.next()?, fields.next()?, fields.next()?);
    let (whole, part) = second.split_once('.').unwrap_or((second, ""));
    let field = |text: &str, below: u64| text.parse::<u64>().ok().filter(|value| *value < below);
    let seconds = (field(hour, 24)? * 60 + field(minute, 60)?) * 60 + field(whole, 61)?;
    let complete = fields.next().is_none();
    Some(Stamp {
        nanos: seconds * SECOND_NS + fraction(part)?,
        is_dated: false,
        is_fine: !part.is_empty(),
    })
    .filter(|_| complete)
}

/// Nanoseconds in the digits after the point.
fn fraction(digits: &str) -> Option<u64> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = &digits[..digits.len().min(9)];
    let value: u64 = if digits.is_empty() {
        0
    } else {
        digits.parse().ok()?
    };
    Some(value * 10_u64.pow(9 - digits.len() as u32))
}

/// Days since 1970-01-01 in the Gregorian calendar; years are counted from March, so that the leap
/// day is the last of a year.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d @1732700000` is 2024-11-27 09:33:20; @951782400 is 2000-02-29.
    #[test]
    fn stamps_of_several_programs_are_read() {
        let exact = 1_732_700_000_013_063_000;
        for (line, nanos, is_dated, is_fine) in [
            ("[1732700000.013063] 64 bytes", exact, true, true),
            ("1732700000.013063 64 bytes", exact, true, true),
            ("2024-11-27T09:33:20.013063 64 b", exact, true, true),
            ("2024-11-27T09:33:20.013063Z x", exact, true, true),
            ("[2024-11-27 09:33:20.013063] x", exact, true, true),
            (
                "2024-11-27 09:33:20 64 bytes",
                1_732_700_000_000_000_000,
                true,
                false,
            ),
            (
                "2024-11-27 09:33:20: 64 bytes",
                1_732_700_000_000_000_000,
                true,
                false,
            ),
            (
                "2000-02-29 00:00:00 x",
                951_782_400_000_000_000,
                true,
                false,
            ),
            ("27.11.2024 09:33:20.013063", exact, true, true),
            ("[09:33:20.5] 64", 34_400_500_000_000, false, true),
            ("09:33:20 64", 34_400_000_000_000, false, false),
        ] {
            let expected = Stamp {
                nanos,
                is_dated,
                is_fine,
            };
            assert_eq!(stamp(line), Some(expected), "{line}");
        }
        for line in [
            "64 bytes from 10.0.0.2: icmp_seq=1",
            "10.0.0.2 : [3], 84 bytes, 12.3 ms",
            "25:00:00 x",
            "2024-13-01 00:00:00",
            "[99999999999999999999.5] x",
            "12:3",
            "",
        ] {
            assert_eq!(stamp(line), None, "{line}");
        }
    }
}

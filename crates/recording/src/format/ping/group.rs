//! `NAME=VALUE UNIT` within a line, as programs of all languages write it.

/// A name, a sign and a number, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group<'a> {
    /// The word in front of the sign; of another script as the code page has it.
    pub name: &'a str,
    /// Digits with a point or comma.
    pub number: &'a str,
    /// Text up to the next blank.
    unit: &'a str,
    /// Blanks are on both sides of the sign, as in statistics: only after it they pad the number,
    /// as in httping's `time= 22.10 ms`.
    pub is_spaced: bool,
    /// Nothing follows the unit.
    pub is_last: bool,
}

impl Group<'_> {
    /// Whether its unit is the millisecond: `ms`, or the word of another script.
    pub fn is_in_ms(&self) -> bool {
        self.unit.starts_with("ms") || self.unit.starts_with(|c: char| !c.is_ascii())
    }

    /// Whether letters follow the number.
    pub fn has_unit(&self) -> bool {
        self.unit
            .trim_start()
            .starts_with(|c: char| c.is_alphanumeric())
    }
}

/// All groups of a line, in order.
pub(super) fn groups(text: &str) -> Vec<Group<'_>> {
    memchr::memchr2_iter(b'=', b'<', text.as_bytes())
        .filter_map(|at| group(text, at))
        .collect()
}

fn group(text: &str, at: usize) -> Option<Group<'_>> {
    let after = &text[at + 1..];
    let value = after.trim_start();
    let digits = value.strip_prefix('-').unwrap_or(value);
    let end = digits
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
        .unwrap_or(digits.len());
    let end = value.len() - digits.len() + end;
    let number = value[..end].trim_end_matches(['.', ',']);
    if !number.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = &value[number.len()..];
    let blanks = rest.len() - rest.trim_start().len();
    // A unit directly follows the number, or a blank.
    let unit = if blanks > 1 { "" } else { rest.trim_start() };
    let unit_end = unit.find(char::is_whitespace).unwrap_or(unit.len());
    // The next group is not a unit.
    let unit_end = if unit[..unit_end].contains(['=', '<']) {
        0
    } else {
        unit_end
    };
    let before = text[..at].trim_end();
    let name = before
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(before, |from| {
            let from = from + before[from..].chars().next().map_or(1, char::len_utf8);
            &before[from..]
        });
    Some(Group {
        name,
        number,
        unit: &unit[..unit_end],
        is_spaced: value.len() < after.len() && before.len() < at,
        is_last: unit[unit_end..].trim().is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(&str, &str, &str)> {
        groups(text)
            .iter()
            .map(|one| (one.name, one.number, one.unit))
            .collect()
    }

    #[test]
    fn values_have_names_and_units() {
        assert_eq!(
            of("64 bytes from a: icmp_seq=1 ttl=57 time=23.1 ms"),
            [
                ("icmp_seq", "1", ""),
                ("ttl", "57", ""),
                ("time", "23.1", "ms")
            ]
        );
        assert_eq!(of("octets=32 temps<1 ms TTL=57")[1], ("temps", "1", "ms"));
        assert_eq!(
            of("x=12,5ms, y=3."),
            [("x", "12,5", "ms,"), ("y", "3", ".")]
        );
        assert_eq!(of("= 4 = x <\u{3d}1"), [("", "4", ""), ("", "1", "")]);
        assert!(groups("a = 4")[0].is_spaced && !groups("a =4")[0].is_spaced);
        assert!(!groups("seq=1 time=  4.00 ms")[1].is_spaced);
        assert_eq!(
            of("\u{6642}\u{9593} =23ms"),
            [("\u{6642}\u{9593}", "23", "ms")]
        );
    }
}

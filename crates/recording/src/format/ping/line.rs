//! A line of a `ping`'s output: a reply, a time-out, or statistics.
//!
//! Programs translate their words, and consoles write them in code pages of their choice. Only the
//! structure is stable, and it decides: `NAME=VALUE` and its unit, `TTL`, sequence numbers, and
//! counts that add up. Words decide only where a program gives no other sign.

use memchr::memmem;

use super::group::{Group, groups};
use crate::search::{around, has};

/// Words before the time of a reply without other signs: English, German, French, Spanish,
/// Portuguese, Italian, and that of hping3.
const TIME: [&str; 7] = ["time", "Zeit", "temps", "tiempo", "tempo", "durata", "rtt"];

/// Parts of the lines that report a probe without an answer. Windows' German is matched without its
/// umlaut, which each code page encodes differently.
const UNANSWERED: [&str; 11] = [
    "imeout",
    "timed out",
    "nreachable",
    "no answer yet",
    "xceeded",
    "berschreitung der Anforderung",
    "nicht erreichbar",
    "o response",
    "o reply",
    "refused",
    "Failed",
];

/// Parts of lines without information on a single probe.
const NEUTRAL: [&str; 3] = ["min/avg/max", "(DUP!)", "duplicate"];

/// Meaning of a line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// No reply: a heading, a time-out, statistics.
    Other,
    /// A reply, with its round-trip time in milliseconds as it is written.
    Reply(&'a str),
    /// A reply that was cut within its time.
    NoUnit,
    /// Something that has a time as replies have, in no known form.
    Unread,
}

impl<'a> Line<'a> {
    pub(super) fn find(text: &'a str) -> Self {
        if NEUTRAL[0..1].iter().any(|part| has(text, part)) {
            return Self::Other;
        }
        if let Some(fping) = of_fping(text) {
            return fping;
        }
        let found = groups(text);
        if let Some(time) = by_ttl(&found).or_else(|| by_sequence(text, &found)) {
            return time;
        }
        if is_unanswered(text) {
            return Self::Other;
        }
        let by_word = found.iter().find(|group| TIME.contains(&group.name));
        let by_word = by_word.filter(|group| !group.is_spaced);
        if let Some(time) = by_word.or_else(|| alone(text, &found)) {
            return Self::of(time);
        }
        let is_statistics = found.iter().any(|group| group.is_spaced) || has(text, "%");
        let is_neutral = NEUTRAL.iter().any(|part| has(text, part));
        if has_milliseconds(text) && !is_statistics && !is_neutral {
            return Self::Unread;
        }
        Self::Other
    }

    fn of(time: &Group<'a>) -> Self {
        if time.is_in_ms() {
            Self::Reply(time.number)
        } else {
            Self::NoUnit
        }
    }

    /// Whether it is the reply of a Windows, which prints `TTL` in capitals and no number.
    pub(super) fn is_of_windows(text: &str) -> bool {
        has(text, "TTL=") && sequence(text).is_none()
    }
}

/// The time next to the time to live: Windows prints it in front (`TTL=57` is last), others after.
fn by_ttl<'a>(found: &[Group<'a>]) -> Option<Line<'a>> {
    if let Some(at) = found.iter().position(|group| group.name == "TTL") {
        return at.checked_sub(1).map(|at| Line::of(&found[at]));
    }
    let at = found
        .iter()
        .position(|group| matches!(group.name, "ttl" | "hlim" | "hoplimit"))?;
    behind(&found[at + 1..])
}

/// The time after a sequence number, where a program prints no time to live.
fn by_sequence<'a>(text: &str, found: &[Group<'a>]) -> Option<Line<'a>> {
    sequence(text)?;
    behind(found)
}

/// The last of these that is no field of a header.
fn behind<'a>(found: &[Group<'a>]) -> Option<Line<'a>> {
    const FIELDS: [&str; 13] = [
        "seq", "icmp_seq", "icmp_req", "id", "win", "sport", "dport", "len", "ttl", "size", "conn",
        "port", "status",
    ];
    found
        .iter()
        .rev()
        .find(|group| !FIELDS.contains(&group.name) && !group.is_spaced)
        .map(Line::of)
}

/// The time of a Windows reply over IPv6, which prints no time to live: it ends the line, after the
/// colon of an address.
fn alone<'a, 'b>(text: &str, found: &'b [Group<'a>]) -> Option<&'b Group<'a>> {
    let (time, before) = found.split_last()?;
    let ends = !time.is_spaced && time.is_in_ms() && time.is_last;
    (ends && !before.iter().any(Group::is_in_ms) && text.contains(':')).then_some(time)
}

/// Whether a number of milliseconds is in the line.
fn has_milliseconds(text: &str) -> bool {
    memmem::find_iter(text.as_bytes(), "ms").any(|at| {
        let before = text[..at].trim_end();
        let after = text[at + 2..].chars().next();
        before.ends_with(|c: char| c.is_ascii_digit()) && !after.is_some_and(char::is_alphanumeric)
    })
}

/// fping's `10.0.0.2 : [3], 84 bytes, 12.3 ms (11.9 avg, 0% loss)`.
fn of_fping(text: &str) -> Option<Line<'_>> {
    let (_, after) = around(text, "], ")?;
    fping_sequence(text)?;
    let (_, after) = around(after, " bytes, ")?;
    Some(
        after
            .split_once(" ms")
            .map_or(Line::NoUnit, |(ms, _)| Line::Reply(ms)),
    )
}

fn fping_sequence(text: &str) -> Option<u64> {
    let (_, after) = around(text, " : [")?;
    after.split_once(']')?.0.parse().ok()
}

/// The sequence number in `icmp_seq=7`, `icmp_req=7`, `seq=7`, `icmp_seq 7`, NX-OS's `Request 7
/// timed out` or fping's `[7]`: 16 bits, as ICMP has it, or more from a program with a
/// counter that does not wrap.
pub(super) fn sequence(text: &str) -> Option<u64> {
    if let Some(number) = text
        .strip_prefix("Request ")
        .and_then(|rest| rest.strip_suffix(" timed out"))
    {
        return number.parse().ok();
    }
    let after = ["seq=", "icmp_req=", "seq "]
        .iter()
        .find_map(|name| around(text, name))
        .map(|(_, after)| after);
    match after {
        Some(after) => {
            let end = after
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(after.len());
            after[..end].parse().ok()
        }
        None => fping_sequence(text),
    }
}

/// Whether the line reports an unanswered probe, in words or by a number without a time.
pub(super) fn is_unanswered(text: &str) -> bool {
    UNANSWERED.iter().any(|sign| has(text, sign))
}

/// The time over which the probes were sent, in milliseconds, in iputils' statistics: `8 packets
/// transmitted, 7 received, 12.5% packet loss, time 7001ms`, in its languages.
pub(super) fn duration_ms(text: &str) -> Option<u64> {
    let (_, last) = text.rsplit_once(", ")?;
    let (word, time) = last.trim().rsplit_once(' ')?;
    let is_it = word.chars().all(char::is_alphabetic) && text.contains('%');
    time.strip_suffix("ms")
        .filter(|_| is_it)
        .and_then(|ms| ms.parse().ok())
}

/// Whether the line is the first of a run of `ping`.
pub(super) fn begins_run(text: &str) -> bool {
    // Android's is toybox, with one capital.
    let is_toybox = text.starts_with("Ping ") && text.contains(") bytes");
    ["PING ", "HPING "]
        .iter()
        .any(|word| text.starts_with(word))
        || is_toybox
        || is_heading_of_windows(text)
}

/// Whether the line is the heading of a run of Windows' in any language: it ends with a colon and
/// has the size of the probes, a number that is no part of an address.
pub(super) fn is_heading_of_windows(text: &str) -> bool {
    ends_with_colon(text) && text.split_whitespace().any(is_plain_number)
}

/// Whether the line is the heading of statistics, which is a heading without a size.
pub(super) fn is_other_heading(text: &str) -> bool {
    ends_with_colon(text) && !is_heading_of_windows(text)
}

fn ends_with_colon(text: &str) -> bool {
    text.ends_with([':', '\u{ff1a}'])
}

/// Whether a word begins with a number that is not an address's.
fn is_plain_number(word: &str) -> bool {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_address =
        rest.starts_with(['.', ':', '-']) || rest.starts_with(|c: char| c.is_ascii_hexdigit());
    rest.len() < word.len() && !(is_address && rest.len() > 1)
}

/// Number of probes sent, if the line is the closing statistics, in any language: `8 packets
/// transmitted, 7 received, 12% packet loss`, Windows' `Packets: Sent = 8, Received = 7, Lost = 1`,
/// fping's `xmt/rcv/%loss = 8/7/12%`. `None` for other lines, zero for an unreadable count.
pub(super) fn transmitted(text: &str) -> Option<u64> {
    let count = |digits: &str| digits.trim().parse().unwrap_or(0);
    for words in [" packets transmitted", " packets tramitted"] {
        if let Some((sent, _)) = around(text, words) {
            return Some(count(sent));
        }
    }
    if let Some((_, after)) = around(text, "xmt/rcv/%loss = ") {
        return after.split_once('/').map(|(sent, _)| count(sent));
    }
    of_windows(text).or_else(|| of_iputils(text))
}

/// Number of probes answered, in the line that [`transmitted`] reads.
pub(super) fn received(text: &str) -> Option<u64> {
    let first = |part: &str| {
        let digits = part.split(|c: char| !c.is_ascii_digit());
        digits
            .into_iter()
            .find(|digits| !digits.is_empty())?
            .parse()
            .ok()
    };
    if let Some((_, after)) = around(text, "xmt/rcv/%loss = ") {
        return first(after.split('/').nth(1)?);
    }
    if of_windows(text).is_some() {
        return counts(text).get(1).copied();
    }
    first(text.split([',', '\u{ff0c}', '\u{3001}']).nth(1)?)
}

/// Three counts, the first being the sum of the others.
fn of_windows(text: &str) -> Option<u64> {
    match counts(text)[..] {
        [sent, received, lost] if sent > 0 && received.checked_add(lost) == Some(sent) => {
            Some(sent)
        }
        _ => None,
    }
}

/// Whole numbers without a unit, after an equals sign.
fn counts(text: &str) -> Vec<u64> {
    groups(text)
        .iter()
        .filter(|group| group.is_spaced && !group.has_unit())
        .filter_map(|group| group.number.parse().ok())
        .collect()
}

/// Three parts and more between commas: the first two have a count each, a later one a percentage.
fn of_iputils(text: &str) -> Option<u64> {
    // Most lines have no percentage: they are not split.
    if !has(text, "%") {
        return None;
    }
    let parts: Vec<&str> = text.split([',', '\u{ff0c}', '\u{3001}']).collect();
    let [first, second, rest @ ..] = &parts[..] else {
        return None;
    };
    let count = |part: &str| {
        let mut numbers = part
            .split(|c: char| !c.is_ascii_digit())
            .filter(|digits| !digits.is_empty());
        let number = numbers.next()?.parse::<u64>().ok()?;
        numbers.next().is_none().then_some(number)
    };
    let (sent, received) = (count(first)?, count(second)?);
    let is_it = rest.iter().any(|part| part.contains('%')) && received <= sent;
    is_it.then_some(sent)
}

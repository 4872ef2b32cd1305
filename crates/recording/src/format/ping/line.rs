//! A line of a `ping`'s output: a reply, a time-out, or the closing statistics, in the words of
//! several programs and languages.

/// Words before the time of a reply, in English, German, French, Spanish, Portuguese and Italian.
const TIME: [&str; 6] = ["time", "Zeit", "temps", "tiempo", "tempo", "durata"];

/// Parts of the lines that say that a probe was not answered. Windows' German is matched without
/// its umlaut, of which each code page has a byte of its own.
const UNANSWERED: [&str; 7] = [
    "imeout",
    "timed out",
    "nreachable",
    "no answer yet",
    "xceeded",
    "berschreitung der Anforderung",
    "nicht erreichbar",
];

/// What a line of a log is.
pub(super) enum Line<'a> {
    /// No reply: a heading, a time-out, statistics.
    Other,
    /// A reply, with its round-trip time in milliseconds as it is written.
    Reply(&'a str),
    /// A reply that was cut within its time.
    NoUnit,
}

impl<'a> Line<'a> {
    pub(super) fn find(text: &'a str) -> Self {
        if let Some(fping) = of_fping(text) {
            return fping;
        }
        let Some(after) = TIME.iter().find_map(|word| after_time(text, word)) else {
            return Self::Other;
        };
        after
            .split_once("ms")
            .map_or(Self::NoUnit, |(ms, _)| Self::Reply(ms))
    }
}

/// What follows "time=" or "time<": the latter is below the resolution of the clock, and taken as
/// its upper bound.
fn after_time<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.match_indices(word).find_map(|(at, _)| {
        let begins = text[..at].ends_with(' ');
        let after = text[at + word.len()..].strip_prefix(['=', '<'])?;
        begins.then_some(after)
    })
}

/// fping's `10.0.0.2 : [3], 84 bytes, 12.3 ms (11.9 avg, 0% loss)`.
fn of_fping(text: &str) -> Option<Line<'_>> {
    let (_, after) = text.split_once("], ")?;
    fping_sequence(text)?;
    let (_, after) = after.split_once(" bytes, ")?;
    Some(
        after
            .split_once(" ms")
            .map_or(Line::NoUnit, |(ms, _)| Line::Reply(ms)),
    )
}

fn fping_sequence(text: &str) -> Option<u64> {
    let (_, after) = text.split_once(" : [")?;
    after.split_once(']')?.0.parse().ok()
}

/// The sequence number in `icmp_seq=7`, `seq=7`, `icmp_seq 7` or fping's `[7]`: 16 bits, as ICMP
/// has it. Some print a counter that does not wrap.
pub(super) fn sequence(text: &str) -> Option<u16> {
    let after = text
        .split_once("seq=")
        .or_else(|| text.split_once("seq "))
        .map(|(_, after)| after);
    let number = match after {
        Some(after) => {
            let end = after
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(after.len());
            after[..end].parse().ok()
        }
        None => fping_sequence(text),
    };
    number.map(|number: u64| number as u16)
}

/// Whether the line says that a probe was not answered.
pub(super) fn is_unanswered(text: &str) -> bool {
    UNANSWERED.iter().any(|sign| text.contains(sign))
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
    // Windows' German is "Ping wird ausgeführt für HOST mit 32 Bytes Daten:".
    text.starts_with("PING ") || text.starts_with("Pinging ") || text.starts_with("Ping wird ")
}

/// Number of probes sent, if the line is the statistics that say so: `8 packets transmitted`,
/// `8 Pakete übertragen`, Windows' `Packets: Sent = 8, Received = 7, Lost = 1 (12% loss)` in any
/// language, fping's `xmt/rcv/%loss = 8/7/12%`. None for other lines, zero for an unreadable count.
pub(super) fn transmitted(text: &str) -> Option<u64> {
    let count = |digits: &str| digits.trim().parse().unwrap_or(0);
    for words in [" packets transmitted", " Pakete übertragen"] {
        if let Some((sent, _)) = text.split_once(words) {
            return Some(count(sent));
        }
    }
    if let Some((_, after)) = text.split_once("xmt/rcv/%loss = ") {
        return after.split_once('/').map(|(sent, _)| count(sent));
    }
    let is_windows = text.matches(" = ").count() == 3 && text.contains("% ");
    let (_, after) = text.split_once(" = ").filter(|_| is_windows)?;
    after.split_once(',').map(|(sent, _)| count(sent))
}

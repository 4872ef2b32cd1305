//! PowerShell's `Test-Connection`: its table, `Format-List` and `Export-Csv`, of PowerShell 7
//! (`TestConnectionCommand+PingStatus`) and of Windows PowerShell 5.1 (`Win32_PingStatus`).
//!
//! A lost probe of PowerShell 7 has a latency of 0 and a status other than `Success`. Windows
//! PowerShell writes one as an error (`Test-Connection : …`), which only `*> FILE` redirects.

use airtcp_units::Duration;

use super::milliseconds::parse_ms;
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::probes::ProbeLogBuilder;
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "test-connection",
    title: "the output of PowerShell's \"Test-Connection\": table, Format-List or Export-Csv",
    knows: &[Fact::RoundTrips, Fact::UnansweredProbes],
    by_lines: true,
    sniff: |bytes| Form::of(bytes).is_some(),
    read,
};

const SNIFFED_LINES: usize = 40;
/// Status codes of a reply in `Win32_PingStatus`.
const SUCCESS: [&str; 2] = ["Success", "0"];

#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Rows of PowerShell 7 end with latency, size, status; of a TCP port with latency, connected,
    /// status.
    Table,
    /// Rows of Windows PowerShell end with bytes and time.
    OldTable,
    List,
    Csv,
}

impl Form {
    fn of(bytes: &[u8]) -> Option<Self> {
        lines(bytes).take(SNIFFED_LINES).find_map(|(_, line)| {
            let text = std::str::from_utf8(line).ok()?;
            let has = |words: &[&str]| words.iter().all(|word| text.contains(word));
            let is_list = |name: &str| text.starts_with(name) && text.contains(" : ");
            if has(&["Source", "Address", "Latency", "Status"]) && !text.contains([',', ';']) {
                return (!text.starts_with("Hop ")).then_some(Self::Table);
            }
            if has(&["Source", "Destination", "IPV4Address", "Time(ms)"]) {
                return Some(Self::OldTable);
            }
            let is_csv = has(&["\"Latency\"", "\"Status\""])
                || has(&["\"ResponseTime\"", "\"StatusCode\""])
                || has(&["Latency,", "Status", "DisplayAddress"]);
            if is_csv {
                return Some(Self::Csv);
            }
            (is_list("DisplayAddress") || is_list("ResponseTime ")).then_some(Self::List)
        })
    }
}

/// Probes in the order of the log.
#[derive(Default)]
struct Probes {
    replies: Vec<(u64, Option<crate::probes::Stamp>, Duration)>,
    sent: u64,
    host: Option<String>,
}

impl Probes {
    fn lost(&mut self) {
        self.sent += 1;
    }

    fn answered(&mut self, ms: &str, line: u64, source: Source<'_>) -> Result<(), TraceError> {
        let rtt = parse_ms(ms.replace(',', ".").as_bytes(), line, source)?;
        self.replies.push((self.sent, None, rtt));
        self.sent += 1;
        Ok(())
    }

    /// Another host's probes are of another link.
    fn of_host(&mut self, name: &str, line: u64, source: Source<'_>) -> Result<(), TraceError> {
        let first = self.host.get_or_insert_with(|| name.to_owned());
        if first == name {
            return Ok(());
        }
        Err(source.malformed(
            line,
            name.as_bytes(),
            "the probes of one host",
            "give a log of the host beyond the wireless link",
        ))
    }
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let expected = "the output of Test-Connection, of which some probes were answered";
    let none = || source.error(None, TraceProblem::NoRoundTrip { expected });
    let form = Form::of(bytes).ok_or_else(none)?;
    let mut probes = Probes::default();
    match form {
        Form::Table | Form::OldTable => of_table(bytes, form, &mut probes, source)?,
        Form::List => of_list(bytes, &mut probes, source)?,
        Form::Csv => of_csv(bytes, &mut probes, source)?,
    }
    let mut log = ProbeLogBuilder::default();
    log.run(probes.replies, probes.sent, 0);
    let mut found = Recording::of_probes(FORMAT.name, log.finish().ok_or_else(none)?);
    found.origin.program = Some("Test-Connection".to_owned());
    found.origin.hosts = probes.host.into_iter().collect();
    found.remark("Its round trips are whole milliseconds.");
    if form == Form::OldTable {
        found.remark(
            "Windows PowerShell writes an unanswered probe as an error, not into its table: only \
             `Test-Connection HOST -Count 300 *> FILE` records losses.",
        );
    }
    Ok(found)
}

fn of_table(
    bytes: &[u8],
    form: Form,
    probes: &mut Probes,
    source: Source<'_>,
) -> Result<(), TraceError> {
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    let mut is_row = false;
    for (line, bytes) in lines(bytes) {
        let text = String::from_utf8_lossy(bytes);
        if let Some((_, host)) = text
            .split_once("Destination: ")
            .or(text.split_once("Target: "))
        {
            probes.of_host(host.trim(), line, source)?;
            is_row = false;
        } else if text.starts_with("Test-Connection : ") || text.starts_with("Test-Connection: ") {
            probes.lost();
        } else if text.starts_with("---") {
            is_row = true;
        } else if text.is_empty() || text.contains("Source ") {
            is_row &= text.is_empty();
        } else if is_row && !(cut_short && line == last_line) {
            let words: Vec<&str> = text.split_whitespace().collect();
            let row = match (form, &words[..]) {
                (Form::Table, [number, .., ms, _, status]) if number.parse::<u64>().is_ok() => {
                    Some((SUCCESS.contains(status), *ms))
                }
                (Form::OldTable, [_, host, .., size, ms]) if size.parse::<u64>().is_ok() => {
                    probes.of_host(host, line, source)?;
                    Some((true, *ms))
                }
                // The continuation of an error begins with "At" or "+".
                (Form::OldTable, [first, ..]) if first.starts_with(['+', 'A']) => continue,
                _ => None,
            };
            match row {
                Some((true, ms)) => probes.answered(ms, line, source)?,
                Some((false, _)) => probes.lost(),
                None => return Err(unread(line, bytes, source)),
            }
        }
    }
    Ok(())
}

fn unread(line: u64, bytes: &[u8], source: Source<'_>) -> TraceError {
    source.malformed(
        line,
        bytes,
        "a row of Test-Connection's table",
        "give the output as PowerShell wrote it, or `… | Export-Csv FILE`",
    )
}

/// `Latency : 24` and `Status : Success` of PowerShell 7, `ResponseTime : 24` and `StatusCode : 0`
/// of Windows PowerShell, in any order; a blank line ends a probe.
fn of_list(bytes: &[u8], probes: &mut Probes, source: Source<'_>) -> Result<(), TraceError> {
    let (mut ms, mut status) = (None::<(u64, String)>, None::<String>);
    let blank_end: [(u64, &[u8]); 1] = [(0, b"")];
    for (line, bytes) in lines(bytes).chain(blank_end) {
        let text = String::from_utf8_lossy(bytes);
        if text.is_empty() {
            let (ms, status) = (ms.take(), status.take());
            match (ms, status.as_deref()) {
                (Some((line, ms)), Some(one)) if SUCCESS.contains(&one) => {
                    probes.answered(&ms, line, source)?;
                }
                (_, Some(_)) => probes.lost(),
                _ => {}
            }
            continue;
        }
        let Some((name, value)) = text.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match name.trim() {
            "Latency" | "ResponseTime" if !value.is_empty() => ms = Some((line, value.to_owned())),
            "Status" | "StatusCode" => status = Some(value.to_owned()),
            "Destination" => probes.of_host(value, line, source)?,
            _ => {}
        }
    }
    Ok(())
}

fn of_csv(bytes: &[u8], probes: &mut Probes, source: Source<'_>) -> Result<(), TraceError> {
    let (mut rest, mut skipped) = (bytes, 0);
    // Windows PowerShell begins with `#TYPE …`.
    while rest.first() == Some(&b'#') {
        let end = rest.iter().position(|byte| *byte == b'\n');
        rest = end.map_or(&[][..], |end| &rest[end + 1..]);
        skipped += 1;
    }
    let header = lines(rest).next().map_or(&b""[..], |(_, line)| line);
    let count = |sign: u8| header.iter().filter(|byte| **byte == sign).count();
    let separator = [b',', b';', b'\t']
        .into_iter()
        .max_by_key(|sign| count(*sign));
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator.unwrap_or(b','))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(rest);
    let unreadable =
        |error: &csv::Error| source.error(None, TraceProblem::Unreadable(error.to_string()));
    let names = reader
        .headers()
        .map_err(|error| unreadable(&error))?
        .clone();
    let place = |name: &str| names.iter().position(|one| one == name);
    let time = place("Latency").or_else(|| place("ResponseTime"));
    let status = place("Status")
        .filter(|_| place("Latency").is_some())
        .or_else(|| place("StatusCode"));
    let host = place("Destination").or_else(|| place("Address"));
    for row in reader.records() {
        let row = row.map_err(|error| unreadable(&error))?;
        let line = skipped + row.position().map_or(1, csv::Position::line);
        let field = |place: Option<usize>| row.get(place?);
        let Some(status) = field(status) else {
            // A file that was cut ends within a row.
            continue;
        };
        if let Some(name) = field(host).filter(|name| !name.is_empty()) {
            probes.of_host(name, line, source)?;
        }
        match field(time).filter(|_| SUCCESS.contains(&status)) {
            Some(ms) => probes.answered(ms, line, source)?,
            None => probes.lost(),
        }
    }
    Ok(())
}

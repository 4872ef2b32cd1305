//! Data sets of Raca et al. (4G 2018, 5G 2020) and other logs of G-NetTrack Pro: a row a second
//! with cell, signal and rates in kbit/s.
//!
//! `State` I is idle: the rate is then that of no demand. `-` is missing, seconds may come twice,
//! times are local.

use airtcp_units::Duration;

use super::super::speed_test::of_ms;
use super::super::{Fact, Format, Recording, first_line, in_words, stamp::stamp};
use super::{Bound, Direction, length_s, series};
use crate::fault::{TraceError, TraceProblem};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "gnettrack",
    title: "a drive test of G-NetTrack Pro, as in Raca's 4G and 5G data sets (CSV)",
    knows: &[Fact::Direction, Fact::LowerBound, Fact::Outages, Fact::Date],
    by_lines: true,
    sniff: |bytes| {
        first_line(bytes).is_some_and(|line| {
            let header = String::from_utf8_lossy(line).to_ascii_lowercase();
            header.contains("dl_bitrate") && header.contains("ul_bitrate")
        })
    },
    read,
};

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let header =
        String::from_utf8_lossy(first_line(bytes).unwrap_or_default()).to_ascii_lowercase();
    let names: Vec<&str> = header
        .trim_start_matches('\u{feff}')
        .split(',')
        .map(str::trim)
        .collect();
    let place = |name: &str| names.iter().position(|one| *one == name);
    let time = place("timestamp");
    let mut samples: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
    let (mut idle, mut cells, mut least_ping) = (0_u64, 0_u64, f64::INFINITY);
    let (mut cell, mut began, mut before) = (String::new(), None, 0.0);
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    for (line, bytes) in lines(bytes).filter(|(_, line)| !line.is_empty()).skip(1) {
        let text = String::from_utf8_lossy(bytes);
        let fields: Vec<&str> = text.split(',').map(str::trim).collect();
        let field = |name: &str| fields.get(place(name)?).copied();
        let number = |name: &str| field(name)?.parse::<f64>().ok();
        let at = time.and_then(|time| seconds(fields.get(time)?));
        if cut_short && line == last_line && fields.len() < names.len() {
            continue;
        }
        let Some(at) = at.filter(|at| *at >= before) else {
            return Err(source.malformed(
                line,
                bytes,
                "a row with a time YYYY.MM.DD_HH.MM.SS that does not go back",
                "sort the file, or cut it where the recording was restarted",
            ));
        };
        before = at;
        began.get_or_insert(at);
        if let Some(name) = field("cellid").filter(|name| *name != "-" && !name.is_empty()) {
            cells += u64::from(!cell.is_empty() && cell != name);
            name.clone_into(&mut cell);
        }
        if let Some(ping) = number("pingmin").filter(|ms| *ms > 0.0) {
            least_ping = least_ping.min(ping);
        }
        if field("state") == Some("I") {
            idle += 1;
            continue;
        }
        for (name, samples) in ["dl_bitrate", "ul_bitrate"].into_iter().zip(&mut samples) {
            if let Some(kbps) = number(name).filter(|kbps| (0.0..1e10).contains(kbps)) {
                samples.push((at, 1e3 * kbps));
            }
        }
    }
    let mut found = Recording::new(FORMAT.name, String::new());
    for (samples, direction) in samples.iter().zip([Direction::Down, Direction::Up]) {
        found
            .rates
            .extend(series(direction, samples, |_| Bound::Transfer));
    }
    if found.rates.is_empty() {
        let expected = "rows with a demand (State D) and a rate";
        return Err(source.error(None, TraceProblem::Empty { expected }));
    }
    found.summary = format!(
        "a drive test of G-NetTrack ({} in the mean over {:.0} s)",
        in_words(&found.rates),
        length_s(&found.rates[0])
    );
    found.figures.least_rtt = of_ms(least_ping);
    found.origin.program = Some("G-NetTrack Pro".to_owned());
    let began = began.and_then(Duration::from_secs_f64);
    found.origin.began_unix_ns = began.map(Duration::as_nanos);
    if idle > 0 {
        found.remark(format!(
            "{idle} rows without a demand (State I) are left out: their rate is not the link's."
        ));
    }
    if cells > 0 {
        found.remark(format!("The cell changed {cells} times."));
    }
    found.remark("Its times are local, without a zone.");
    Ok(found)
}

/// `2019.12.16_13.40.04`, in seconds since 1970.
fn seconds(text: &str) -> Option<f64> {
    let (date, time) = text.split_once('_')?;
    let text = format!("{} {}", date.replace('.', "-"), time.replace('.', ":"));
    Some(stamp(&text)?.nanos as f64 / 1e9)
}

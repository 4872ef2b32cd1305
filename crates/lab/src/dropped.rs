//! Files dropped on a page without a server: a scenario with its files, or a log of round trips.

use std::collections::BTreeMap;
use std::sync::Arc;

use airtcp_recording::Clock;
use airtcp_recording::played::{
    Events, LinkOptions, MAX_UNANSWERED, PlayedLink, TimedLog, Unanswered,
};
use airtcp_units::BitRate;
use serde::Serialize;

use crate::chosen::{Chosen, Files, LabError, Source};

/// Beginnings of captures: pcap in both orders and resolutions, pcapng, and gzip.
const CAPTURES: [&[u8]; 6] = [
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
    b"\x1f\x8b",
];

/// A link that files describe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Name of the file that describes it.
    pub name: String,
    /// The scenario.
    pub text: String,
    /// Files that it names and that were made of a log; the log itself is not needed any more.
    pub files: BTreeMap<&'static str, String>,
    /// Remarks on the reading, in sentences.
    pub found: Vec<String>,
}

/// The link that `files` describe together.
///
/// # Errors
/// [`LabError::Scenario`] when they describe none, or a wrong one, with the command that reads them
/// where there is one.
pub fn dropped(files: &BTreeMap<String, Arc<[u8]>>) -> Result<Dropped, LabError> {
    let refused = |text: String| Err(LabError::Scenario(text));
    for (name, bytes) in files {
        if CAPTURES.iter().any(|magic| bytes.starts_with(magic)) {
            return refused(format!(
                "{name}: captures and packed files are not read here: `airtcp diagnose {name} \
                 --out \
                 out` fits its link; drop out/link.toml with the files that it names"
            ));
        }
    }
    let scenarios: Vec<_> = files.keys().filter(|name| is_toml(name)).collect();
    let dropped = match (scenarios.as_slice(), files.len()) {
        ([name], _) => scenario(name, &files[*name])?,
        ([], 1) => match files.first_key_value() {
            Some((name, bytes)) => log(name, bytes)?,
            None => return refused(NOTHING.to_owned()),
        },
        ([], 0) => return refused(NOTHING.to_owned()),
        ([], _) => {
            return refused(
                "drop: several files and no scenario among them: drop a scenario (.toml) with the \
                 files that it names, or one ping log"
                    .to_owned(),
            );
        }
        _ => return refused("drop: several scenarios: drop one at a time".to_owned()),
    };
    let mut named = files.clone();
    for (name, text) in &dropped.files {
        named.insert((*name).to_owned(), text.as_bytes().into());
    }
    let source = Source {
        text: dropped.text.clone(),
        name: dropped.name.clone(),
        files: Files::Named(named),
    };
    Chosen::new(&source, &BTreeMap::new(), "")?;
    Ok(dropped)
}

const NOTHING: &str = "drop: expected a file";

fn is_toml(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".toml")
}

fn scenario(name: &str, bytes: &[u8]) -> Result<Dropped, LabError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| LabError::Scenario(format!("{name}: is no text (UTF-8); expected TOML")))?;
    Ok(Dropped {
        name: name.to_owned(),
        text: text.to_owned(),
        files: BTreeMap::new(),
        found: Vec::new(),
    })
}

/// Rate of a ping log's link at first, since pings do not show it; the page sets it.
const PING_RATE: BitRate = BitRate::from_bps(12_000_000);
/// Fewer round trips do not show a link.
const FEWEST: usize = 30;

/// The link of a ping log, played by time.
fn log(name: &str, bytes: &[u8]) -> Result<Dropped, LabError> {
    let refused = |problem: String| LabError::Scenario(problem);
    let recording = airtcp_recording::read(bytes, name).map_err(|one| refused(one.to_string()))?;
    let Some(probes) = &recording.probes else {
        return Err(refused(format!(
            "{name}: is {}, without probes; for its link: `airtcp import {name} -o link.toml`, and \
             drop its files here together",
            recording.summary
        )));
    };
    let log = TimedLog::of(probes).ok_or_else(|| {
        refused(format!(
            "{name}: more than {MAX_UNANSWERED} probes without an answer; expected the log of one \
             link, with sequence numbers that go on"
        ))
    })?;
    let events = Events::of(&log);
    let options = LinkOptions {
        name: plain(name),
        rate: PING_RATE,
        unanswered: Unanswered::Lost,
        seconds: 60,
    };
    let link = PlayedLink::of(&log, &events, &options);
    let mut found = vec![format!(
        "It is played by time: {} probes, {} without an answer, {} gaps and {} stops. Pings \
         show no rate: set link.rate, now {PING_RATE}.",
        log.rtt_s.len(),
        probes.lost(),
        events.gaps.len(),
        events.stops.len()
    )];
    if probes.clock() == Clock::Unknown {
        found.push(format!(
            "It has no time stamps: its probes are taken to be {} s apart (`ping -D` writes \
             stamps).",
            log.interval_s
        ));
    }
    if probes.replies().len() < FEWEST {
        found.push(format!(
            "It holds {} round trips, and {FEWEST} are needed to show a link: `ping -D -i 0.2 -c \
             1500 HOST` takes five minutes.",
            probes.replies().len()
        ));
    }
    Ok(Dropped {
        name: name.to_owned(),
        text: link.toml,
        files: link.files,
        found,
    })
}

/// The name of a file as that of a scenario: without its ending, and of letters and digits.
fn plain(name: &str) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let words = stem.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        "link".to_owned()
    } else {
        words.join("-")
    }
}

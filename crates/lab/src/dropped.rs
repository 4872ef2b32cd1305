//! Files dropped on a page without a server: a scenario with its files, or a log of round trips.

use std::collections::BTreeMap;
use std::sync::Arc;

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
            Some((name, _)) => log(name),
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
    let source = Source {
        text: dropped.text.clone(),
        name: dropped.name.clone(),
        files: Files::Named(files.clone()),
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
        found: Vec::new(),
    })
}

/// The model of Miyim, "Techniques for Throughput Enhancement in Wireless Networks", §V: the k-th
/// packet with data takes the k-th round trip, and the window alone bounds a flow.
fn log(name: &str) -> Dropped {
    let path = toml::Value::from(name);
    Dropped {
        name: name.to_owned(),
        text: format!(
            "name = {path}\n\
             description = \"The round trips of a ping log, packet by packet.\"\n\
             duration = \"60 s\"\n\n\
             [link]\n\
             rtt_log = {{ path = {path}, order = \"in-order\", start = \"random\" }}\n\n\
             [tcp]\n\
             profile = \"linux\"\n\
             max_window = 20\n"
        ),
        found: vec![format!(
            "Each packet takes the next round trip of the log, and the window alone bounds the \
             flow. `airtcp import {name} --rate \"12 Mbit/s\" -o link.toml` writes a link that \
             replays \
             the log by time, with its stops and losses: drop its files here together."
        )],
    }
}

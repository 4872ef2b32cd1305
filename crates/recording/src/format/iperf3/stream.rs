//! `--json-stream`: an object a line, `{"event": "interval", "data": {…}}`.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::json::from_json;
use super::json::{Interval, Test};
use crate::fault::TraceError;
use crate::source::{Source, lines};

#[derive(Deserialize)]
struct Event<'a> {
    event: String,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

pub(super) fn is_stream(line: &[u8]) -> bool {
    let begin = &line[..line.len().min(40)];
    let text = String::from_utf8_lossy(begin).replace([' ', '\t'], "");
    text.starts_with("{\"event\":")
}

/// All events as one test; a last line that was cut is left out.
pub(super) fn joined(bytes: &[u8], source: Source<'_>) -> Result<Test, TraceError> {
    let cut_short = !bytes.ends_with(b"\n");
    let last_line = lines(bytes).last().map_or(0, |(line, _)| line);
    let mut test = Test::default();
    for (line, text) in lines(bytes) {
        if text.is_empty() {
            continue;
        }
        let Ok(Event { event, data }) = serde_json::from_slice::<Event<'_>>(text) else {
            if cut_short && line == last_line {
                continue;
            }
            return Err(source.malformed(
                line,
                text,
                "an object {\"event\": …, \"data\": …} of \"iperf3 --json-stream\"",
                "remove the line, or give the file as its program wrote it",
            ));
        };
        let data = data.map_or("null", RawValue::get).as_bytes();
        let here = |error: TraceError| source.error(Some(line), error.problem);
        match event.as_str() {
            "start" => test.start = from_json(data, source).map_err(here)?,
            "interval" => {
                let interval: Interval = from_json(data, source).map_err(here)?;
                test.intervals.push(interval);
            }
            "end" => test.end = from_json(data, source).map_err(here)?,
            "error" => test.error = from_json(data, source).map_err(here)?,
            _ => {}
        }
    }
    Ok(test)
}

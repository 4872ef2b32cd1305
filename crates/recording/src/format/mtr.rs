//! mtr's reports (`mtr -r`, `--json`, `--csv`): losses and mean round trips of each hop.

use super::json::begins_as_object;
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "mtr",
    title: "a report of mtr, as text, JSON or CSV",
    knows: &[Fact::UnansweredProbes],
    sniff,
    read,
};

const SNIFFED_LINES: usize = 10;

fn sniff(bytes: &[u8]) -> bool {
    begins_as_object(bytes, &["report", "mtr"])
        || lines(bytes).take(SNIFFED_LINES).any(|(_, line)| {
            line.starts_with(b"Mtr_Version,")
                || line.starts_with(b"HOST: ") && line.windows(5).any(|part| part == b"Loss%")
        })
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let last = last_hop(bytes).unwrap_or_default();
    Err(source.error(
        None,
        TraceProblem::NoProbes {
            what: format!(
                "a report of mtr{last}: means of each hop, without the round trip of each probe. \
                 Losses of hops in between are mostly those of routers that answer seldom"
            ),
            remedy: "ping the last hop: ping -D -i 0.2 -c 1500 HOST > link.ping".to_owned(),
        },
    ))
}

/// Losses and mean of the last hop of a report as text:
/// ` 8.|-- 192.0.2.9   8.0%   300   23.7  29.0  20.1 452.9  40.2`.
fn last_hop(bytes: &[u8]) -> Option<String> {
    let found = lines(bytes).filter_map(|(_, line)| std::str::from_utf8(line).ok());
    let text = found.filter(|text| text.contains(".|--")).last()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let loss = words.iter().position(|word| word.ends_with('%'))?;
    let (sent, mean) = (words.get(loss + 1)?, words.get(loss + 3)?);
    Some(format!(
        " ({} of {sent} probes lost at the last hop, {mean} ms in the mean)",
        words[loss]
    ))
}

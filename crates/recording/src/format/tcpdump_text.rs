//! The text output of tcpdump, which omits most of a capture's contents.

use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "tcpdump-text",
    title: "the text of tcpdump",
    knows: NOTHING,
    by_lines: true,
    sniff,
    read,
};

const NOTHING: &[Fact] = &[];
const SNIFFED_LINES: usize = 20;

/// `12:00:00.123456 IP 10.0.0.1.443 > 10.0.0.2.5001: Flags [.], ack 1`, with or without a date.
fn sniff(bytes: &[u8]) -> bool {
    lines(bytes).take(SNIFFED_LINES).any(|(_, line)| {
        let Ok(text) = std::str::from_utf8(line) else {
            return false;
        };
        let is_packet = [" IP ", " IP6 "].iter().any(|kind| {
            let Some((time, rest)) = text.split_once(kind) else {
                return false;
            };
            let is_time = time.contains(['.', ':']) && time.ends_with(|c: char| c.is_ascii_digit());
            is_time && rest.contains(" > ") && rest.contains(": ")
        });
        is_packet || text.starts_with("tcpdump: listening on ")
    })
}

fn read(_: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    Err(source.error(
        None,
        TraceProblem::OtherKind {
            what: "the text of tcpdump, without the windows, options and times that a diagnosis \
                   needs"
                .to_owned(),
            remedy: "give the capture itself: tcpdump -i INTERFACE -s 128 -w FILE.pcap".to_owned(),
        },
    ))
}

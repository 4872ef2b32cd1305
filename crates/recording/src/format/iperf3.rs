//! iperf3's text and JSON: rates of a transfer, without the times of its packets.

use serde::Deserialize;

use super::json::begins_as_object;
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "iperf3",
    title: "the output of iperf3, as text or JSON",
    knows: &[Fact::Rate],
    sniff,
    read,
};

const SNIFFED_LINES: usize = 100;

fn sniff(bytes: &[u8]) -> bool {
    begins_as_object(bytes, &["start", "intervals"])
        || lines(bytes)
            .take(SNIFFED_LINES)
            .any(|(_, line)| line.starts_with(b"[ ID] Interval") || line.starts_with(b"iperf3: "))
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let rate = of_json(bytes).or_else(|| of_text(bytes));
    let what = rate.unwrap_or_else(|| "a test of iperf3".to_owned());
    Err(source.error(
        None,
        TraceProblem::NoProbes {
            what: format!("{what}, which has no round trip of each packet"),
            remedy: "for the link and what helps on it, run `airtcp measure HOST` against the \
                     same iperf3 server, or capture the transfer (`airtcp diagnose --advise`)"
                .to_owned(),
        },
    ))
}

#[derive(Deserialize)]
struct Json {
    end: Option<End>,
}

#[derive(Deserialize)]
struct End {
    sum_sent: Option<Sum>,
    sum_received: Option<Sum>,
}

#[derive(Deserialize)]
struct Sum {
    bits_per_second: Option<f64>,
    retransmits: Option<f64>,
}

fn of_json(bytes: &[u8]) -> Option<String> {
    let end = serde_json::from_slice::<Json>(bytes).ok()?.end?;
    let repeated = end.sum_sent.as_ref().and_then(|sum| sum.retransmits);
    let rate = end.sum_received.or(end.sum_sent)?.bits_per_second?;
    Some(said(
        &format!("{:.3} Mbit/s", rate / 1e6),
        repeated.map(|count| format!("{count:.0}")),
    ))
}

/// The last line of the sender: `[  5]   0.00-10.00  sec   112 MBytes  94.1 Mbits/sec  120
/// sender`.
fn of_text(bytes: &[u8]) -> Option<String> {
    let found = lines(bytes).filter_map(|(_, line)| std::str::from_utf8(line).ok());
    let text = found.filter(|text| text.ends_with("sender")).last()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let unit = words.iter().position(|word| word.ends_with("bits/sec"))?;
    let rate = format!(
        "{} {}",
        words.get(unit.checked_sub(1)?)?,
        words[unit].replace("bits/sec", "bit/s")
    );
    let repeated = words
        .get(unit + 1)
        .filter(|word| word.parse::<u64>().is_ok());
    Some(said(&rate, repeated.map(|count| (*count).to_owned())))
}

fn said(rate: &str, repeated: Option<String>) -> String {
    let repeated = repeated.map_or_else(String::new, |count| format!(", {count} retransmissions"));
    format!("a test of iperf3 ({rate}{repeated})")
}

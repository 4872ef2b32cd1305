//! `ping` of Cisco's IOS, IOS XE, IOS XR and ASA: a sign a probe and a rate of success.
//!
//! `!` is a reply; `.` `U` `Q` `M` `?` `&` `N` `P` are losses. The round trips are a minimum, a
//! mean and a maximum of whole milliseconds. NX-OS prints lines as BSD does, which `ping` reads.

use super::speed_test::of_ms;
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::Direction;
use crate::source::{Source, lines};

pub(super) const FORMAT: Format = Format {
    name: "cisco",
    title: "the output of Cisco's \"ping\" (IOS, IOS XE, IOS XR, ASA)",
    knows: &[Fact::RoundTrips, Fact::Losses],
    by_lines: true,
    sniff: |bytes| {
        lines(bytes).take(SNIFFED_LINES).any(|(_, line)| {
            line.starts_with(b"Success rate is ")
                || line.starts_with(b"Sending ") && line.windows(8).any(|part| part == b"ICMP Ech")
        })
    },
    read,
};

const SNIFFED_LINES: usize = 40;
const ANSWERED: u8 = b'!';
const LOST: &[u8] = b".UQM?&NP";

/// Counts of a run: probes sent and answered, with the times in milliseconds.
struct Rate {
    answered: u64,
    sent: u64,
    times: Option<[f64; 3]>,
}

impl Rate {
    /// `Success rate is 98 percent (98/100), round-trip min/avg/max = 1/4/20 ms`.
    fn of(text: &str) -> Option<Self> {
        let (_, counts) = text.strip_prefix("Success rate is ")?.split_once('(')?;
        let (counts, rest) = counts.split_once(')')?;
        let (answered, sent) = counts.split_once('/')?;
        let times = rest.split_once("= ").and_then(|(_, times)| {
            let mut each = times
                .trim_end_matches(" ms")
                .split('/')
                .map(str::parse::<f64>);
            let mut next = || each.next()?.ok().filter(|ms| ms.is_finite() && *ms >= 0.0);
            Some([next()?, next()?, next()?])
        });
        let (answered, sent) = (answered.parse().ok()?, sent.parse().ok()?);
        (answered <= sent && sent > 0).then_some(Self {
            answered,
            sent,
            times,
        })
    }
}

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut rates: Vec<Rate> = Vec::new();
    let (mut signs, mut host) = (Vec::new(), None);
    for (line, bytes) in lines(bytes) {
        let text = String::from_utf8_lossy(bytes);
        if text.starts_with("Success rate is ") {
            let rate = Rate::of(&text).ok_or_else(|| {
                source.malformed(
                    line,
                    bytes,
                    "\"Success rate is 98 percent (98/100), round-trip min/avg/max = 1/4/20 ms\"",
                    "give the output as the router printed it",
                )
            })?;
            rates.push(rate);
        } else if let Some((_, rest)) = text.split_once("Echos to ") {
            host = rest.split(',').next().map(str::to_owned);
        } else if !bytes.is_empty() && bytes.iter().all(|sign| is_sign(*sign)) {
            signs.extend_from_slice(bytes);
        }
    }
    let other = |what: &str| {
        source.error(
            None,
            TraceProblem::OtherKind {
                what: what.to_owned(),
                remedy:
                    "ping from a computer on that link: ping -D -i 0.2 -c 1500 HOST > link.ping"
                        .to_owned(),
            },
        )
    };
    let sent: u64 = rates.iter().map(|rate| rate.sent).sum();
    let answered: u64 = rates.iter().map(|rate| rate.answered).sum();
    if sent == 0 {
        return Err(other("a ping of Cisco's without its rate of success"));
    }
    let times: Vec<(f64, [f64; 3])> = rates
        .iter()
        .filter_map(|rate| Some((rate.answered as f64, rate.times?)))
        .collect();
    let least = times.iter().map(|(_, times)| times[0]).reduce(f64::min);
    let most = times.iter().map(|(_, times)| times[2]).reduce(f64::max);
    let (Some(least), Some(most), 1..) = (least, most, answered) else {
        return Err(other(&format!(
            "a ping of Cisco's of {sent} probes, of which none was answered"
        )));
    };
    let count: f64 = times.iter().map(|(count, _)| count).sum();
    let mean = times
        .iter()
        .map(|(count, times)| count * times[1])
        .sum::<f64>()
        / count.max(1.0);
    let summary = format!(
        "a ping of Cisco's ({} of {sent} probes lost; round trips of {least} to {most} ms, \
         {mean:.3} \
         ms in the mean)",
        sent - answered
    );
    let mut found = Recording::new(FORMAT.name, summary);
    found.figures.least_rtt = of_ms(least);
    found.figures.mean_rtt = of_ms(mean);
    let share = (sent - answered) as f64 / sent as f64;
    found.figures.losses.push((Direction::Unknown, share));
    found.origin.program = Some("Cisco's ping".to_owned());
    found.origin.hosts = host.into_iter().collect();
    let longest = signs.split(|sign| *sign == ANSWERED).map(<[u8]>::len).max();
    if let Some(longest) = longest.filter(|longest| *longest > 1) {
        found.remark(format!("Up to {longest} probes in a row had no answer."));
    }
    found.remark(
        "It has no round trip of each probe and no times: neither percentiles nor stops can be \
         had. A router answers pings when it has time: its maximum is not the link's.",
    );
    Ok(found)
}

fn is_sign(sign: u8) -> bool {
    sign == ANSWERED || LOST.contains(&sign)
}

//! A report of mtr: losses, best, mean, worst and deviation of each hop.

use serde::Deserialize;

use super::super::Recording;
use super::super::json::from_json;
use super::super::speed_test::of_ms;
use super::FORMAT;
use crate::fault::{TraceError, TraceProblem};
use crate::recording::Direction;
use crate::source::{Source, lines};

/// The last hop.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Hop {
    host: String,
    #[serde(rename = "Loss%")]
    loss: f64,
    #[serde(rename = "Snt")]
    sent: f64,
    #[serde(rename = "Avg")]
    mean: f64,
    #[serde(rename = "Best")]
    best: f64,
    #[serde(rename = "StDev")]
    deviation: f64,
}

#[derive(Deserialize)]
struct File {
    report: Report,
}

#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    hubs: Vec<Hop>,
}

pub(super) fn recording(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let hop = if bytes.trim_ascii_start().starts_with(b"{") {
        from_json::<File>(bytes, source)?.report.hubs.pop()
    } else {
        of_csv(bytes).or_else(|| of_text(bytes))
    };
    let hop = hop.filter(|hop| hop.sent > 0.0 && (0.0..=100.0).contains(&hop.loss));
    let Some(hop) = hop else {
        return Err(source.error(
            None,
            TraceProblem::OtherKind {
                what: "a report of mtr without a hop that was probed".to_owned(),
                remedy: "ping the host: ping -D -i 0.2 -c 1500 HOST > link.ping".to_owned(),
            },
        ));
    };
    let mut found = Recording::new(
        FORMAT.name,
        format!(
            "a report of mtr ({}% of {} probes lost at the last hop, {} ms in the mean)",
            hop.loss, hop.sent, hop.mean
        ),
    );
    found.figures.least_rtt = of_ms(hop.best);
    found.figures.mean_rtt = of_ms(hop.mean);
    found.figures.rtt_deviation = of_ms(hop.deviation);
    found
        .figures
        .losses
        .push((Direction::Unknown, hop.loss / 100.0));
    found.origin.program = Some("mtr".to_owned());
    found.origin.hosts = vec![hop.host];
    found.remark(
        "It has means and no round trip of each probe: neither percentiles nor stops can be had. \
         Losses of hops in between are mostly those of routers that answer seldom.",
    );
    Ok(found)
}

/// `  2.|-- 192.0.2.9   8.0%   300   23.7  29.0  20.1 452.9  40.2`, host, loss, sent, last, mean,
/// best, worst, deviation.
fn of_text(bytes: &[u8]) -> Option<Hop> {
    let found = lines(bytes).filter_map(|(_, line)| std::str::from_utf8(line).ok());
    let text = found.filter(|text| text.contains(".|--")).last()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let loss = words.iter().position(|word| word.ends_with('%'))?;
    let number = |place: usize| words.get(place)?.trim_end_matches('%').parse().ok();
    Some(Hop {
        host: words.get(1)?.to_string(),
        loss: number(loss)?,
        sent: number(loss + 1)?,
        mean: number(loss + 3)?,
        best: number(loss + 4)?,
        deviation: number(loss + 6)?,
    })
}

/// `Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,`.
fn of_csv(bytes: &[u8]) -> Option<Hop> {
    let mut rows = lines(bytes).filter_map(|(_, line)| std::str::from_utf8(line).ok());
    let names: Vec<&str> = rows
        .find(|row| row.starts_with("Mtr_Version,"))?
        .split(',')
        .collect();
    let last = rows.filter(|row| row.contains(',')).last()?;
    let fields: Vec<&str> = last.split(',').collect();
    let place = |name: &str| names.iter().position(|one| *one == name);
    let number = |name: &str| fields.get(place(name)?)?.parse().ok();
    Some(Hop {
        host: fields.get(place("Ip")?)?.to_string(),
        loss: number("Loss%")?,
        sent: number("Snt")?,
        mean: number("Avg")?,
        best: number("Best")?,
        deviation: number("StDev")?,
    })
}

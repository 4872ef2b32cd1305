//! A report of mtr: losses, best, mean, worst and deviation of each hop.

use std::net::IpAddr;

use serde::Deserialize;

use super::super::Recording;
use super::super::json::from_json;
use super::super::speed_test::of_ms;
use super::hop::Hop;
use super::{FORMAT, windows};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::Direction;
use crate::source::{Source, lines};

#[derive(Deserialize)]
struct File {
    report: Report,
}

#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    mtr: Asked,
    #[serde(default)]
    hubs: Vec<Hop>,
}

#[derive(Default, Deserialize)]
struct Asked {
    #[serde(default, rename = "dst")]
    host: String,
}

pub(super) fn recording(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let (asked, hop) = if bytes.trim_ascii_start().starts_with(b"{") {
        let mut report = from_json::<File>(bytes, source)?.report;
        (Some(report.mtr.host), report.hubs.pop())
    } else {
        of_xml(bytes).unwrap_or_else(|| {
            let found = of_csv(bytes);
            found.unwrap_or_else(|| (None, of_text(bytes).or_else(|| windows::last_hop(bytes))))
        })
    };
    let hop = hop.filter(|hop| hop.sent > 0.0 && (0.0..=100.0).contains(&hop.loss));
    let other = |what: String| {
        let remedy = "ping the host: ping -D -i 0.2 -c 1500 HOST > link.ping".to_owned();
        source.error(None, TraceProblem::OtherKind { what, remedy })
    };
    let Some(hop) = hop else {
        let what = "a report of mtr without a hop that was probed";
        return Err(other(what.to_owned()));
    };
    if hop.loss == 100.0 {
        let what = "a report of mtr of which the last hop answered no probe";
        return Err(other(what.to_owned()));
    }
    let address = |name: &str| name.parse::<IpAddr>().ok();
    let asked = asked.as_deref().and_then(address);
    // The last hop that answered is a router where the host did not.
    if let (Some(asked), Some(last)) = (asked, address(&hop.host))
        && asked != last
    {
        return Err(other(format!(
            "a report of mtr that ends at {last} and not at {asked}, which did not answer"
        )));
    }
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

/// A row `  2.|-- 192.0.2.9   8.0%   300 …` or, with `-z`, `  2. AS64496 192.0.2.9   8.0% …`.
/// Its columns are in the heading `HOST: NAME   Loss%   Snt …`, which `-o` chooses.
fn of_text(bytes: &[u8]) -> Option<Hop> {
    let mut rows = lines(bytes).filter_map(|(_, line)| std::str::from_utf8(line).ok());
    let heading = rows.find(|row| row.starts_with("HOST: ") && row.contains("Loss%"))?;
    let names: Vec<&str> = heading.split_whitespace().skip(2).collect();
    let is_hop = |row: &&str| {
        let number = row.trim_start().split('.').next();
        number.is_some_and(|number| number.parse::<u8>().is_ok())
    };
    let text = rows.filter(is_hop).last()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.len().checked_sub(names.len())?;
    let number = |name: &str| {
        let place = names.iter().position(|one| *one == name)?;
        words[first + place].trim_end_matches('%').parse().ok()
    };
    Some(Hop {
        host: words.get(first.checked_sub(1)?)?.to_string(),
        loss: number("Loss%")?,
        sent: number("Snt")?,
        mean: number("Avg")?,
        best: number("Best")?,
        deviation: number("StDev").unwrap_or(0.0),
    })
}

/// The host that was asked for, where a report names it, and the last hop.
type Ends = (Option<String>, Option<Hop>);

/// `Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,`.
fn of_csv(bytes: &[u8]) -> Option<Ends> {
    let mut rows = lines(bytes).filter_map(|(_, line)| std::str::from_utf8(line).ok());
    let names: Vec<&str> = rows
        .find(|row| row.starts_with("Mtr_Version,"))?
        .split(',')
        .collect();
    let last = rows.filter(|row| row.contains(',')).last()?;
    let fields: Vec<&str> = last.split(',').collect();
    let field = |name: &str| {
        let place = names.iter().position(|one| *one == name)?;
        fields.get(place).copied()
    };
    let number = |name: &str| field(name)?.parse().ok();
    let hop = Hop {
        host: field("Ip")?.to_owned(),
        loss: number("Loss%")?,
        sent: number("Snt")?,
        mean: number("Avg")?,
        best: number("Best")?,
        deviation: number("StDev").unwrap_or(0.0),
    };
    Some((field("Host").map(str::to_owned), Some(hop)))
}

/// `<HUB COUNT="2" HOST="192.0.2.9">` with an element a line: `<Loss>  8.0%</Loss>`.
fn of_xml(bytes: &[u8]) -> Option<Ends> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (_, inside) = text.split_once("<MTR ")?;
    let attribute = |text: &str, name: &str| {
        let (_, after) = text.split_once(&format!("{name}=\""))?;
        Some(after.split_once('"')?.0.to_owned())
    };
    let asked = attribute(inside.split('>').next()?, "DST");
    // A last hop without its end was cut.
    let (whole, _) = inside.rsplit_once("</HUB>")?;
    let (_, hop) = whole.rsplit_once("<HUB ")?;
    let number = |name: &str| {
        let (_, after) = hop.split_once(&format!("<{name}>"))?;
        let (value, _) = after.split_once('<')?;
        value.trim().trim_end_matches('%').parse::<f64>().ok()
    };
    let found = || {
        Some(Hop {
            host: attribute(hop, "HOST")?,
            loss: number("Loss")?,
            sent: number("Snt")?,
            mean: number("Avg")?,
            best: number("Best")?,
            deviation: number("StDev").unwrap_or(0.0),
        })
    };
    Some((asked, found()))
}

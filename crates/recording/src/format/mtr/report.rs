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
    let (asked, mut hops): Route = if bytes.trim_ascii_start().starts_with(b"{") {
        let report = from_json::<File>(bytes, source)?.report;
        (Some(report.mtr.host), report.hubs)
    } else {
        let text = || (None, of_text(bytes).unwrap_or_else(|| windows::hops(bytes)));
        of_xml(bytes).or_else(|| of_csv(bytes)).unwrap_or_else(text)
    };
    let route: Vec<_> = hops
        .iter()
        .filter(|hop| hop.is_probed())
        .map(Hop::recorded)
        .collect();
    let hop = hops.pop().filter(Hop::is_probed);
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
    found.hops = route;
    found.origin.program = Some("mtr".to_owned());
    found.origin.hosts = vec![hop.host];
    found.remark(
        "It has means and no round trip of each probe: neither percentiles nor stops can be had. \
         Losses of hops in between are mostly those of routers that answer seldom.",
    );
    Ok(found)
}

/// A row `  2.|-- 192.0.2.9   8.0%   300 …` or, with `-z`, `  2. AS64496 192.0.2.9   8.0% …`.
/// Its columns are in the heading `HOST: NAME   Loss%   Snt …`, which `-o` chooses, or in that of
/// the screen, ` Host   Loss%   Snt …`. A hop without an address never answered.
fn of_text(bytes: &[u8]) -> Option<Vec<Hop>> {
    let mut rows = lines(bytes).filter_map(|(_, line)| std::str::from_utf8(line).ok());
    let heading = rows.find(|row| is_heading(row))?;
    let names: Vec<&str> = heading
        .split_whitespace()
        .skip_while(|name| *name != "Loss%")
        .collect();
    let hop = |row: &str| {
        let number = row.trim_start().split('.').next()?;
        number.parse::<u8>().ok()?;
        let words: Vec<&str> = row.split_whitespace().collect();
        let first = words.len().checked_sub(names.len())?;
        let number = |name: &str| {
            let place = names.iter().position(|one| *one == name)?;
            words[first + place].trim_end_matches('%').parse().ok()
        };
        Hop::named(words.get(first.checked_sub(1)?)?, number)
    };
    Some(rows.filter_map(hop).collect())
}

/// Whether a line names the columns of a report, or of mtr's screen.
pub(super) fn is_heading(row: &str) -> bool {
    let mut names = row.split_whitespace();
    let is_hosts = matches!(names.next(), Some("HOST:" | "Host"));
    is_hosts && names.any(|name| name == "Loss%")
}

/// The host that was asked for, where a report names it, and the hops.
type Route = (Option<String>, Vec<Hop>);

/// `Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,`.
fn of_csv(bytes: &[u8]) -> Option<Route> {
    let mut rows = lines(bytes).filter_map(|(_, line)| std::str::from_utf8(line).ok());
    let names: Vec<&str> = rows
        .find(|row| row.starts_with("Mtr_Version,"))?
        .split(',')
        .collect();
    let mut asked = None;
    let hops = rows.filter(|row| row.contains(',')).map(|row| {
        let fields: Vec<&str> = row.split(',').collect();
        let field = |name: &str| {
            let place = names.iter().position(|one| *one == name)?;
            fields.get(place).copied()
        };
        asked = field("Host").map(str::to_owned);
        let found = field("Ip").and_then(|host| Hop::named(host, |name| field(name)?.parse().ok()));
        found.unwrap_or_default()
    });
    let hops = hops.collect();
    Some((asked, hops))
}

/// `<HUB COUNT="2" HOST="192.0.2.9">` with an element a line: `<Loss>  8.0%</Loss>`.
fn of_xml(bytes: &[u8]) -> Option<Route> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (_, inside) = text.split_once("<MTR ")?;
    let attribute = |text: &str, name: &str| {
        let (_, after) = text.split_once(&format!("{name}=\""))?;
        Some(after.split_once('"')?.0.to_owned())
    };
    let asked = attribute(inside.split('>').next()?, "DST");
    // A last hop without its end was cut.
    let (whole, _) = inside.rsplit_once("</HUB>")?;
    let hop = |hop: &str| {
        let number = |name: &str| {
            let name = name.trim_end_matches('%');
            let (_, after) = hop.split_once(&format!("<{name}>"))?;
            let (value, _) = after.split_once('<')?;
            value.trim().trim_end_matches('%').parse::<f64>().ok()
        };
        Hop::named(&attribute(hop, "HOST")?, number)
    };
    let hops = whole.split("<HUB ").skip(1);
    Some((
        asked,
        hops.map(|one| hop(one).unwrap_or_default()).collect(),
    ))
}

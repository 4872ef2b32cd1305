//! The CSV of LENS, the data set of LEO satellites (Zhao & Pan, MMSys 2024): probes of irtt, each
//! with its time of sending in nanoseconds and three delays in milliseconds. -1 in one of them says
//! where the probe was lost, with 0 in the others.

use super::irtt_probes::{Delay, Lost, RoundTrip, Timestamps, recording};
use super::{Fact, Format, Recording, table};
use crate::fault::TraceError;
use crate::source::{Source, lines};

const HEADER: &[u8] = b"timestamp,rtt,uplink,downlink";

pub(super) const FORMAT: Format = Format {
    name: "lens",
    title: "the CSV of LENS, a data set of LEO satellites (probes of irtt)",
    knows: &[
        Fact::Direction,
        Fact::OneWayDelays,
        Fact::RoundTrips,
        Fact::SendingTimes,
        Fact::UnansweredProbes,
        Fact::Losses,
        Fact::Date,
    ],
    by_lines: true,
    sniff: |bytes| table::header(bytes).is_some_and(|line| line.trim_ascii() == HEADER),
    read,
};

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut round_trips = Vec::new();
    let rows = lines(bytes).filter(|(_, text)| !text.is_empty());
    for ((line, text), seqno) in rows.skip(1).zip(0..) {
        let row = std::str::from_utf8(text).ok().and_then(probe);
        let Some((sent, lost, delay)) = row else {
            return Err(source.malformed(
                line,
                text,
                "nanoseconds since 1970 and three delays in milliseconds, -1 where it was lost",
                "correct or remove the line",
            ));
        };
        let mut timestamps = Timestamps::default();
        timestamps.client.send.wall = Some(sent);
        timestamps.client.receive.wall = delay.rtt.map(|nanos| sent + nanos.round() as u64);
        round_trips.push(RoundTrip {
            seqno,
            lost: Lost::Word(lost.to_owned()),
            delay,
            timestamps,
        });
    }
    let expected = "rows of LENS of which some have a round trip";
    let mut found = recording((FORMAT.name, expected), &round_trips, source)?;
    found.summary = format!("a log of irtt from LENS ({})", found.summary);
    Ok(found)
}

/// Time of sending, fate in irtt's words, and delays of a row.
fn probe(row: &str) -> Option<(u64, &'static str, Delay)> {
    let mut fields = row.split(',').map(str::trim);
    let sent = fields.next()?.parse().ok()?;
    let mut delay = || {
        let ms: f64 = fields.next()?.parse().ok()?;
        // Clocks of two machines may differ by years.
        (ms.abs() < 1e12).then_some(ms)
    };
    let (rtt, up, down) = (delay()?, delay()?, delay()?);
    if fields.next().is_some() {
        return None;
    }
    let is = |ms: f64, expected: f64| (ms - expected).abs() < f64::EPSILON;
    let lost = match (rtt, up, down) {
        _ if is(rtt, -1.0) => "true",
        _ if is(rtt, 0.0) && is(up, -1.0) => "true_up",
        _ if is(rtt, 0.0) && is(down, -1.0) => "true_down",
        _ if rtt > 0.0 => "false",
        _ => return None,
    };
    let nanos = |ms: f64| (lost == "false").then_some(1e6 * ms);
    Some((
        sent,
        lost,
        Delay {
            rtt: nanos(rtt),
            send: nanos(up),
            receive: nanos(down),
        },
    ))
}

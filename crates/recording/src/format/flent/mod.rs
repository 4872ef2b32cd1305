//! Data files of flent, of its versions 1 to 4: a ping next to a load, and the load's rates.
//!
//! Raw values are used if present: the grid's values are interpolated. The load begins some seconds
//! after the ping and ends before it, so that both delays are in the file.

mod load;
mod series;

use super::json::{begins_as_object, from_json};
use super::{Fact, Format, Recording};
use crate::fault::{TraceError, TraceProblem};
use crate::recording::Load;
use crate::source::Source;
use series::File;

pub(super) const FORMAT: Format = Format {
    name: "flent",
    title: "a data file of flent (.flent, .flent.gz)",
    knows: &[
        Fact::Direction,
        Fact::SendingTimes,
        Fact::RoundTrips,
        Fact::UnansweredProbes,
        Fact::Rate,
        Fact::LowerBound,
        Fact::IdleDelay,
        Fact::LoadedDelay,
        Fact::Date,
    ],
    by_lines: false,
    sniff: |bytes| {
        begins_as_object(bytes, &["x_values"]) || begins_as_object(bytes, &["raw_values"])
    },
    read,
};

fn read(bytes: &[u8], source: Source<'_>) -> Result<Recording, TraceError> {
    let mut file: File = from_json(bytes, source)?;
    file.unify();
    let rates = load::rates(&file);
    let pinged = file.pinged(source)?;
    if pinged.is_none() && rates.is_empty() {
        let found = file.names().join(", ");
        return Err(source.malformed(
            1,
            found.as_bytes(),
            "a data series \"Ping (ms) ICMP\" or \"TCP download\"",
            "run a test of flent with a ping and a load, such as rrul",
        ));
    }
    let mut found = match pinged {
        Some((name, probes)) => {
            let log = probes.ok_or_else(|| {
                let expected = "a data series of pings of which some were answered";
                source.error(None, TraceProblem::NoRoundTrip { expected })
            })?;
            let mut found = Recording::of_probes(FORMAT.name, log);
            if name.contains("UDP") {
                found.remark(
                    "netperf's UDP pings stop for good at their first loss: what comes after it is \
                     not in the file.",
                );
            }
            let around = file.steps_around(name);
            if around > 0 {
                found.remark(format!(
                    "Before its first answer and after its last the ping has {around} empty steps: \
                     the file does not tell whether it ran, and they are not counted as losses."
                ));
            }
            found
        }
        None => Recording::new(FORMAT.name, String::new()),
    };
    found.rates = rates;
    load::judge(&mut found, &file);
    found.load = if found.rates.is_empty() {
        Load::Unknown
    } else {
        Load::Loaded
    };
    file.describe(&mut found);
    Ok(found)
}

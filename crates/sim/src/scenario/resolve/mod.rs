//! From what a file says to what is simulated. Every key that was left out is filled in on the way,
//! so that the document that comes out says all there is to say.

mod flows;
mod link;
mod loss;
mod tcp;

use airtcp_link::PipeConfig;
use airtcp_remedies::{Changes, LinkChanges, Selection};
use airtcp_tcp::Config;
use airtcp_units::Duration;

use super::bounded::{Limit, Span, Whole};
use super::document::Document;
use super::error::Problem;
use super::inputs::Inputs;
use super::names::Topology;
use super::{DEFAULT_DURATION, Flows};

/// All that a document means.
pub(super) struct Resolved {
    pub duration: Duration,
    pub topology: Topology,
    pub data: PipeConfig,
    pub acks: PipeConfig,
    pub flows: Flows,
    pub tcp: Config,
    pub remedies: Selection,
}

/// What `document` means; fills in every key that it leaves out but the name.
pub(super) fn resolve(document: &mut Document, inputs: &Inputs) -> Result<Resolved, Problem> {
    let duration = document
        .duration
        .get_or_insert(Span::clamped(DEFAULT_DURATION))
        .get();
    let topology = *document.topology.get_or_insert_default();
    document.description.get_or_insert_default();
    let (mut data, acks) = link::resolve(&mut document.link, inputs)?;
    let flows = flows::resolve(&mut document.flows, topology, duration)?;
    let mut tcp = tcp::resolve(&mut document.tcp)?;
    let remedies = remedies(document.remedies.get_or_insert_default())?;
    let mut link = LinkChanges::default();
    remedies.apply(&mut Changes {
        tcp: &mut tcp,
        link: &mut link,
    });
    tcp::check(&tcp, "remedies")?;
    link::change(&mut data, link)?;
    Ok(Resolved {
        duration,
        topology,
        data,
        acks,
        flows,
        tcp,
        remedies,
    })
}

/// The remedies, each on its own in the document.
fn remedies(texts: &mut Vec<String>) -> Result<Selection, Problem> {
    let mut all = Selection::default();
    for (position, text) in texts.iter().enumerate() {
        let problem = |error| Problem::at(format!("remedies[{position}]"), format!("{error}"));
        let some = airtcp_remedies::parse(text).map_err(problem)?;
        all = all.and(some).map_err(problem)?;
    }
    *texts = all.as_slice().iter().map(ToString::to_string).collect();
    Ok(all)
}

/// Refuses `key` if it was given, and says why.
fn refuse<T>(given: &Option<T>, key: &str, why: &str) -> Result<(), Problem> {
    match given {
        Some(_) => Err(Problem::at(key, why)),
        None => Ok(()),
    }
}

impl<const MIN: u64, const MAX: u64> Limit<Whole<MIN, MAX>> {
    fn get_u32(self) -> Option<u32> {
        self.at().map(Whole::get_u32)
    }
}

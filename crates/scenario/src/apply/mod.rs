//! Applies remedies to a resolved scenario: their names become typed changes, and those change its
//! parts, once.

mod idle;
mod link;

use airtcp_remedies::{LinkChange, MediumChange, Selection};

use crate::error::Problem;
use crate::resolve::aqm;
use crate::resolve::tcp::{self, AskedBy};
use crate::{Scenario, Untreated};

impl Scenario {
    /// Applies `remedies` in place of those it has.
    ///
    /// # Errors
    /// One would change nothing, or has no place here, or makes the endpoints contradict
    /// themselves.
    pub(super) fn apply(&mut self, remedies: Selection) -> Result<(), Problem> {
        let Untreated {
            mut link,
            mut tcp,
            mut flow_tcp,
        } = (*self.untreated).clone();
        let endpoints = if flow_tcp.is_empty() {
            std::slice::from_ref(&tcp)
        } else {
            &flow_tcp
        };
        let senders = idle::Senders::of(&link, self.topology, &self.flows.directions);
        self.already_so = idle::check(&remedies, endpoints, senders)?;
        if !self.reopens() {
            idle::check_reopening(&remedies)?;
        }
        let mut changes = remedies.apply(&mut tcp);
        for change in &mut changes {
            if let LinkChange::Medium(MediumChange::Discipline(discipline)) = change {
                aqm::tell_code_points(discipline, self.document.flows.dscp.as_deref())?;
            }
        }
        tcp::check(&tcp, AskedBy::Key("remedies"))?;
        for own in &mut flow_tcp {
            // The changes between the endpoints are the same for all.
            remedies.apply(own);
            tcp::check(own, AskedBy::Key("remedies"))?;
        }
        let stamped = if flow_tcp.is_empty() {
            tcp.timestamps
        } else {
            flow_tcp.iter().any(|own| own.timestamps)
        };
        (self.access_point, self.outage_reaction) =
            link::change(&mut link, self.topology, changes, stamped)?;
        (self.link, self.tcp, self.flow_tcp) = (link, tcp, flow_tcp);
        self.check_proxy()?;
        let names = remedies.as_slice().iter().map(ToString::to_string);
        self.document.remedies = Some(names.collect());
        self.remedies = remedies;
        Ok(())
    }
}

/// The remedies that a scenario names.
pub(super) fn named(texts: &[String]) -> Result<Selection, Problem> {
    let mut all = Selection::default();
    for (position, text) in texts.iter().enumerate() {
        let problem = |error| Problem::at(format!("remedies[{position}]"), format!("{error}"));
        let some = airtcp_remedies::parse(text).map_err(problem)?;
        all = all.and(some).map_err(problem)?;
    }
    Ok(all)
}

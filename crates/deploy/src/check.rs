//! The current deployment: whether it is still in place, and the connections that use it.

use airtcp_host::bpf;
use airtcp_host::changes::journal::Stage;
use airtcp_host::device::statistics::QueueCounts;
use airtcp_host::error::Result;
use serde::Serialize;

use crate::change::Change;
use crate::connections::{Connection, established};
use crate::entry::Entry;
use crate::groups::{Group, Ratio};
use crate::options::Deployed;
use crate::text;

/// The output of `airtcp deploy --list`.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The deployment in a sentence.
    deployment: Option<String>,
    /// Whether a process died while changing something, and its guard too.
    interrupted: bool,
    /// Each change, and the present state if it is no longer in place.
    changes: Vec<State>,
    /// Counters of each queueing discipline of the deployment.
    queues: Vec<Queue>,
    notes: Vec<String>,
    check: Option<Check>,
}

#[derive(Debug, Serialize)]
struct State {
    change: String,
    missing: Option<String>,
}

/// Counters of a discipline since it was attached to its device.
#[derive(Debug, Serialize)]
struct Queue {
    device: String,
    /// Its kind, as named by tc(8).
    discipline: String,
    #[serde(flatten)]
    counts: QueueCounts,
}

/// The kernel's information on the connections.
#[derive(Debug, Serialize)]
struct Check {
    /// The treated connections.
    treated: Group,
    /// The control group, or connections made earlier.
    control: Group,
    /// Whether the others were left untreated on purpose.
    is_controlled: bool,
    /// Treated connections without the deployed congestion control.
    without_control: usize,
    /// Treated connections for which the kernel refused something, with the first reason.
    refused: usize,
    refusal: Option<String>,
    ratio: Option<Ratio>,
}

impl Report {
    /// Inspects the machine.
    ///
    /// # Errors
    ///
    /// The kernel does not answer.
    pub fn new(found: Option<(Stage, Entry)>, options: &Deployed) -> Result<Self> {
        let Some((stage, entry)) = found else {
            return Ok(Self {
                deployment: None,
                interrupted: false,
                changes: Vec::new(),
                queues: Vec::new(),
                notes: Vec::new(),
                check: None,
            });
        };
        let changes = entry
            .changes
            .iter()
            .map(|change| {
                Ok(State {
                    change: change.words(),
                    missing: change.missing()?,
                })
            })
            .collect::<Result<_>>()?;
        let check = if options.check {
            Check::new(&entry)?
        } else {
            None
        };
        let mut notes = entry.notes.clone();
        if options.check && check.is_none() {
            notes.push(why_not_compared(&entry).to_owned());
        }
        Ok(Self {
            deployment: Some(text::deployed(&entry)),
            interrupted: stage != Stage::Deployed,
            changes,
            queues: entry.changes.iter().filter_map(Queue::of).collect(),
            notes,
            check,
        })
    }

    /// The printed text.
    pub fn text(&self) -> String {
        let Some(deployment) = &self.deployment else {
            return "nothing is deployed".to_owned();
        };
        let mut lines = vec![deployment.clone()];
        if self.interrupted {
            lines.push(
                "it was interrupted half-way: airtcp deploy --undo puts everything back".into(),
            );
        }
        for state in &self.changes {
            lines.push(match &state.missing {
                None => format!("  in place: {}", state.change),
                Some(what) => format!("  NOT in place, {what}: {}", state.change),
            });
        }
        lines.extend(self.queues.iter().map(Queue::line));
        lines.extend(self.notes.iter().cloned());
        if let Some(check) = &self.check {
            lines.extend(check.lines());
        }
        lines.join("\n")
    }
}

/// Why `--check` has no groups to compare.
fn why_not_compared(entry: &Entry) -> &'static str {
    let is_of_device =
        |change: &Change| matches!(change, Change::Discipline { .. } | Change::Radio { .. });
    if entry.changes.iter().all(is_of_device) {
        "everything that leaves by the device meets it: no connections are without it to compare \
         with; `airtcp compare` has both over the same link"
    } else {
        "the kernel does not say of a connection whether it has this: settings and attributes of \
         routes are read when a connection is made"
    }
}

impl Queue {
    /// For a change that attaches a discipline; `None` if it has no counters, or is gone.
    fn of(change: &Change) -> Option<Self> {
        let Change::Discipline { device, new, .. } = change else {
            return None;
        };
        let discipline = new.split(' ').next().unwrap_or_default();
        let counts = QueueCounts::of(device, discipline).ok()?;
        Some(Self {
            device: device.clone(),
            discipline: discipline.to_owned(),
            counts,
        })
    }

    fn line(&self) -> String {
        let QueueCounts {
            passed,
            dropped,
            marked,
            acks_dropped,
        } = self.counts;
        let acks = if acks_dropped > 0 {
            format!(" ({acks_dropped} of them acknowledgments that a later one covers)")
        } else {
            String::new()
        };
        format!(
            "  {} before {}: {passed} packets passed, {dropped} dropped{acks}, {marked} marked",
            self.discipline, self.device
        )
    }
}

impl Check {
    /// `None` if a connection does not reveal its treatment.
    fn new(entry: &Entry) -> Result<Option<Self>> {
        let pins = entry.changes.iter().find_map(|change| match change {
            Change::Treatment { pins, .. } => Some(pins),
            _ => None,
        });
        if let Some(pins) = pins {
            return Self::of_groups(entry, &established()?, pins).map(Some);
        }
        let Some(control) = &entry.control else {
            return Ok(None);
        };
        let connections = established()?;
        let has = |one: &&Connection| one.control == *control;
        Ok(Some(Self::comparing(
            Group::new(connections.iter().filter(has)),
            Group::new(connections.iter().filter(|one| !has(one))),
        )))
    }

    /// Counts the groups recorded by a program.
    fn of_groups(
        entry: &Entry,
        connections: &[Connection],
        pins: &std::path::Path,
    ) -> Result<Self> {
        let groups = bpf::groups(pins)?;
        let of = |treated: bool| {
            let groups = &groups;
            connections.iter().filter(move |one| {
                groups
                    .get(&one.cookie)
                    .is_some_and(|it| it.treated == treated)
            })
        };
        let mut check = Self::comparing(Group::new(of(true)), Group::new(of(false)));
        check.is_controlled = true;
        let refusals = || {
            of(true)
                .filter_map(|one| groups.get(&one.cookie))
                .filter(|group| group.refused != 0)
        };
        check.refused = refusals().count();
        check.refusal = refusals()
            .next()
            .map(|group| std::io::Error::from_raw_os_error(group.refused).to_string());
        if let Some(control) = &entry.control {
            check.without_control = of(true).filter(|one| one.control != *control).count();
        }
        Ok(check)
    }

    fn comparing(treated: Group, control: Group) -> Self {
        Self {
            ratio: treated.compared_with(&control),
            treated,
            control,
            is_controlled: false,
            without_control: 0,
            refused: 0,
            refusal: None,
        }
    }

    fn lines(&self) -> Vec<String> {
        let others = if self.is_controlled {
            "control"
        } else {
            "without it"
        };
        let mut lines = vec![line("treated", &self.treated), line(others, &self.control)];
        if self.without_control > 0 {
            lines.push(format!(
                "{} of the treated have another congestion control: their programs chose one",
                self.without_control
            ));
        }
        if let Some(reason) = &self.refusal {
            lines.push(format!(
                "the kernel refused it to {} of the treated: {reason}",
                self.refused
            ));
        }
        lines.push(match &self.ratio {
            None => {
                "too few connections to compare: each group needs two that sent for 0.1 s".into()
            }
            Some(ratio) if self.is_controlled => ratio.text(),
            Some(ratio) => format!(
                "{} (not chosen by chance: --share makes a control group)",
                ratio.text()
            ),
        });
        lines
    }
}

fn line(name: &str, group: &Group) -> String {
    if group.compared == 0 {
        return format!("{name}: {} connections", group.connections);
    }
    format!(
        "{name}: {} connections, {} of them compared: {:.3} Mbit/s, {:.2} % retransmitted",
        group.connections,
        group.compared,
        group.rate_bps / 1e6,
        100.0 * group.retransmitted_share
    )
}

//! Resolves a document into a simulation. Every key left out is filled in on the way, so that the
//! resulting document is complete.

pub(crate) mod aqm;
mod arq;
mod carrier;
mod cell;
mod damage;
mod edca;
mod flows;
mod link;
mod losses;
mod modes;
mod queue;
mod radio;
mod ran;
mod selective_repeat;
pub(crate) mod tcp;
mod traffic;
mod variation;
mod wired;
mod wlan;

use std::path::Path;

use airtcp_remedies::Selection;

use super::document::Document;
use super::error::Problem;
use super::inputs::Inputs;
use super::link::{AccessPoint, Link, Wired};
use super::names::{CellStandard, Standard, Topology};
use super::{Scenario, Untreated};

/// Largest `perturb`: beyond it the link is a different one.
const MAX_PERTURBATION: f64 = 0.1;

/// The scenario that `document` describes, without its remedies. Fills in every key that it leaves
/// out.
pub(super) fn resolve(
    mut document: Document,
    inputs: Inputs,
    source: &str,
) -> Result<Scenario, Problem> {
    let duration = document.duration();
    let perturb = document.perturb();
    if perturb.as_f64() > MAX_PERTURBATION {
        return Err(Problem::at(
            key!(perturb),
            "expected at most 10 %: it stands for what is not known of a link, such as 0.5 %",
        ));
    }
    let topology = document.topology();
    let flows = flows::resolve(&mut document.flows, topology, duration)?;
    if !flows.has_tcp() {
        let why = "applications need TCP, and flows.kind names none; remove the table";
        refuse_keys!(document, "", why; traffic);
    }
    let traffic = traffic::resolve(&mut document, flows.count)?;
    let link = medium(&mut document, topology, flows.count, &inputs)?;
    let wired = wired_path(&mut document, topology)?;
    let flow_tcp = tcp::resolve_own(&mut document.flows.tcp, &document.tcp, &inputs)?;
    let tcp = tcp::resolve(&mut document.tcp, key!(tcp), &inputs)?;
    let unchanged_tcp = match (flows.unchanged, flow_tcp.is_empty()) {
        (0, _) if flows.under_load.is_empty() => Vec::new(),
        (_, true) => vec![tcp],
        (_, false) => flow_tcp.clone(),
    };
    let stem = || match Path::new(source).file_stem() {
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => source.to_owned(),
    };
    Ok(Scenario {
        name: document.name.get_or_insert_with(stem).clone(),
        description: document.description.get_or_insert_default().clone(),
        duration,
        perturb,
        topology,
        link: link.clone(),
        wired,
        access_point: AccessPoint::default(),
        outage_reaction: None,
        flows,
        traffic,
        tcp,
        flow_tcp: flow_tcp.clone(),
        unchanged_tcp,
        remedies: Selection::default(),
        already_so: Vec::new(),
        untreated: Box::new(Untreated {
            link,
            tcp,
            flow_tcp,
        }),
        source: source.to_owned(),
        document,
        inputs,
        renamed: Vec::new(),
    })
}

/// The wireless link. The tables of other topologies may not be given.
fn medium(
    document: &mut Document,
    topology: Topology,
    flows: u32,
    inputs: &Inputs,
) -> Result<Link, Problem> {
    let belongs = |topologies: &str| {
        let name = topology.name();
        format!(
            "only valid with topology = {topologies} (now {name:?}); \
             remove it or change the topology"
        )
    };
    let is_pipe = matches!(topology, Topology::Pipe | Topology::Dumbbell);
    let is_wlan = matches!(topology, Topology::Wlan | Topology::WlanWiredWlan);
    if !is_pipe {
        refuse_keys!(document, "", belongs("\"pipe\" or \"dumbbell\""); link);
    }
    if !is_wlan {
        refuse_keys!(document, "", belongs("\"wlan\" or \"wlan-wired-wlan\""); wlan);
    }
    if topology != Topology::Arq {
        refuse_keys!(document, "", belongs("\"arq\""); arq);
    }
    let is_selective_repeat = matches!(
        topology,
        Topology::SelectiveRepeat | Topology::SelectiveRepeatBothEnds
    );
    if !is_selective_repeat {
        let why = belongs("\"selective-repeat\" or \"selective-repeat-both-ends\"");
        refuse_keys!(document, "", why; selective_repeat);
    }
    if topology != Topology::Cell {
        refuse_keys!(document, "", belongs("\"cell\""); cell);
    }
    let standard = document.wlan.as_ref().and_then(|table| table.standard);
    if !(is_pipe || is_wlan && standard.is_some_and(Standard::aggregates)) {
        let why = "chooses CAKE's tin on a pipe, or an access category of wlan.standard = \
                   \"802.11n\", \"802.11ac\" or \"802.11ax\"; remove it, or choose one of them";
        let table = &document.flows;
        refuse_keys!(table, key!(flows), why; dscp);
    }
    match topology {
        Topology::Pipe | Topology::Dumbbell => {
            let table = document.link.get_or_insert_default();
            let (mut data, mut acks) = link::resolve(table, inputs)?;
            for pipe in [&mut data, &mut acks] {
                let marks = document.flows.dscp.as_deref();
                aqm::tell_code_points(&mut pipe.discipline, marks)?;
            }
            Ok(Link::Pipe { data, acks })
        }
        Topology::Wlan | Topology::WlanWiredWlan => {
            let table = document.wlan.get_or_insert_default();
            match table.standard() {
                standard if standard.aggregates() => {
                    let marks = document.flows.dscp.as_deref();
                    let wlan = edca::resolve(table, standard, flows, marks)?;
                    Ok(Link::Medium(Box::new(wlan)))
                }
                _ => {
                    let wlan = wlan::resolve(table, flows)?;
                    Ok(Link::Medium(Box::new(wlan)))
                }
            }
        }
        Topology::Arq => {
            let arq = arq::resolve(document.arq.get_or_insert_default())?;
            Ok(Link::Medium(Box::new(arq)))
        }
        Topology::SelectiveRepeat | Topology::SelectiveRepeatBothEnds => {
            let table = document.selective_repeat.get_or_insert_default();
            let link = selective_repeat::resolve(table)?;
            Ok(Link::Medium(Box::new(link)))
        }
        Topology::Cell => {
            let table = document.cell.get_or_insert_default();
            match table.standard() {
                CellStandard::EvDo => {
                    let cell = cell::resolve(table, flows)?;
                    Ok(Link::Medium(Box::new(cell)))
                }
                standard => {
                    let cell = ran::resolve(table, standard, flows)?;
                    Ok(Link::Medium(Box::new(cell)))
                }
            }
        }
    }
}

/// The path beyond the access point. A pipe has it only on request, and a dumbbell not at all: its
/// flows have private lines.
fn wired_path(document: &mut Document, topology: Topology) -> Result<Option<Wired>, Problem> {
    match topology {
        Topology::Pipe => {}
        Topology::Dumbbell => {
            let why = "a dumbbell has flows.access_delay in its place; remove the table";
            refuse_keys!(document, "", why; wired);
        }
        _ => {
            let table = document.wired.get_or_insert_default();
            let wlan = document.wlan.as_ref().and_then(|wlan| wlan.standard);
            let cell = document.cell.as_ref().and_then(|cell| cell.standard);
            if wlan.is_some_and(Standard::aggregates)
                || cell.is_some_and(|cell| cell != CellStandard::EvDo)
            {
                wired::fill_behind_aggregates(table);
            }
        }
    }
    let mut wired = document.wired.as_mut().map(wired::resolve).transpose()?;
    if let Some(wired) = &mut wired {
        let marks = document.flows.dscp.as_deref();
        aqm::tell_code_points(&mut wired.line.discipline, marks)?;
    }
    Ok(wired)
}

/// Refuses `key` if it was given, with the reason `why`.
fn refuse<T>(given: &Option<T>, key: &str, why: &str) -> Result<(), Problem> {
    match given {
        Some(_) => Err(Problem::at(key, why)),
        None => Ok(()),
    }
}

//! Resolves a document, completed by [`super::defaults`], into the typed parts of a simulation.

pub(crate) mod aqm;
mod arq;
mod carrier;
mod cell;
mod damage;
pub(crate) mod edca;
mod flows;
mod link;
mod losses;
pub(crate) mod modes;
mod queue;
mod radio;
mod ran;
mod selective_repeat;
pub(crate) mod tcp;
mod traffic;
mod variation;
mod wired;
pub(crate) mod wlan;

use airtcp_link::mac::ran::config::Generation;
use airtcp_remedies::Selection;

use super::document::{CellTable, Channels, Document, Generations, Media, WlanTable};
use super::error::Problem;
use super::inputs::Inputs;
use super::link::{AccessPoint, Link, Wired};
use super::medium::WirelessMedium;
use super::names::{CodePoint, Standard, Topology};
use super::{Scenario, Untreated};

/// Largest `perturb`: beyond it the link is a different one.
const MAX_PERTURBATION: f64 = 0.1;

/// The scenario that the completed `document` describes, without its remedies.
pub(super) fn resolve(
    document: Document,
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
    let flows = flows::resolve(&document.flows, topology, duration)?;
    if !flows.has_tcp() {
        let why = "applications need TCP, and flows.kind names none; remove the table";
        refuse_keys!(document, "", why; traffic);
    }
    let traffic = traffic::resolve(&document, flows.count)?;
    let link = medium(&document, topology, flows.count, &inputs)?;
    let wired = wired_path(&document, topology)?;
    let flow_tcp = tcp::resolve_own(document.flows.tcp.as_deref(), &inputs)?;
    let tcp = tcp::resolve(&document.tcp, key!(tcp), &inputs)?;
    let unchanged_tcp = match (flows.unchanged, flow_tcp.is_empty()) {
        (0, _) if flows.under_load.is_empty() => Vec::new(),
        (_, true) => vec![tcp],
        (_, false) => flow_tcp.clone(),
    };
    Ok(Scenario {
        name: document.name.clone().unwrap_or_default(),
        description: document.description.clone().unwrap_or_default(),
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

/// The wireless link.
fn medium(
    document: &Document,
    topology: Topology,
    flows: u32,
    inputs: &Inputs,
) -> Result<Link, Problem> {
    let is_pipe = matches!(topology, Topology::Pipe | Topology::Dumbbell);
    let is_wlan = matches!(topology, Topology::Wlan | Topology::WlanWiredWlan);
    let standard = document.wlan.as_ref().map(WlanTable::standard);
    if !(is_pipe || is_wlan && standard.is_some_and(Standard::aggregates)) {
        let why = "chooses CAKE's tin on a pipe, or an access category of wlan.standard = \
                   \"802.11n\", \"802.11ac\" or \"802.11ax\"; remove it, or choose one of them";
        let table = &document.flows;
        refuse_keys!(table, key!(flows), why; dscp);
    }
    let marks = document.flows.dscp.as_deref();
    let medium: Box<dyn WirelessMedium> = match Media::of(document, "")? {
        Media::Pipe { link } => {
            let (mut data, mut acks) = link::resolve(&link, inputs)?;
            for pipe in [&mut data, &mut acks] {
                aqm::tell_code_points(&mut pipe.discipline, marks)?;
            }
            return Ok(Link::Pipe { data, acks });
        }
        Media::Wlan { wlan } => channel(&wlan, flows, marks)?,
        Media::Arq { arq } => Box::new(arq::resolve(&arq)?),
        Media::SelectiveRepeat { selective_repeat } => {
            Box::new(selective_repeat::resolve(&selective_repeat)?)
        }
        Media::Cell { cell } => base_station(&cell, flows)?,
    };
    Ok(Link::Medium(medium))
}

/// The channel of IEEE 802.11.
fn channel(
    table: &WlanTable,
    flows: u32,
    marks: Option<&[CodePoint]>,
) -> Result<Box<dyn WirelessMedium>, Problem> {
    Ok(match Channels::of(table, key!(wlan))? {
        Channels::Legacy {
            hops,
            long_retry_limit,
            fragmentation_threshold,
            overhead,
            ..
        } => {
            let own = wlan::Legacy {
                hops,
                long_retry_limit,
                fragmentation_threshold,
                overhead,
            };
            Box::new(wlan::resolve(table, own, flows)?)
        }
        Channels::Aggregating {
            aggregation,
            edca,
            collision_heard,
            overhead,
            ..
        } => {
            let own = edca::Aggregating {
                aggregation,
                edca,
                collision_heard,
                overhead,
            };
            Box::new(edca::resolve(table, own, flows, marks)?)
        }
    })
}

/// The cell of one of the generations.
fn base_station(table: &CellTable, flows: u32) -> Result<Box<dyn WirelessMedium>, Problem> {
    Ok(match Generations::of(table, key!(cell))? {
        Generations::EvDo {
            slot,
            block_error,
            arq_delay,
            retry_limit,
            uplink_delay,
            ..
        } => {
            let own = cell::EvDo {
                slot,
                block_error,
                arq_delay,
                retry_limit,
                uplink_delay,
            };
            Box::new(cell::resolve(table, own, flows)?)
        }
        Generations::Lte {
            bandwidth_mhz,
            mcs_table,
            control_symbols,
            subbands,
            ..
        } => {
            let own = carrier::Lte {
                bandwidth_mhz,
                mcs_table,
                control_symbols,
                subbands,
            };
            let carriers = carrier::lte(table, own)?;
            Box::new(ran::resolve(table, Generation::Lte, carriers, flows)?)
        }
        Generations::Nr {
            subcarrier_spacing,
            bandwidth_mhz,
            mcs_table,
            layers,
            subbands,
            ..
        } => {
            let own = carrier::Nr {
                subcarrier_spacing,
                bandwidth_mhz,
                mcs_table,
                layers,
                subbands,
            };
            let carriers = carrier::nr(table, own)?;
            Box::new(ran::resolve(table, Generation::Nr, carriers, flows)?)
        }
    })
}

/// The path beyond the access point. A pipe has it only on request, and a dumbbell not at all: its
/// flows have private lines.
fn wired_path(document: &Document, topology: Topology) -> Result<Option<Wired>, Problem> {
    if topology == Topology::Dumbbell {
        let why = "a dumbbell has flows.access_delay in its place; remove the table";
        refuse_keys!(document, "", why; wired);
    }
    let mut wired = document.wired.as_ref().map(wired::resolve).transpose()?;
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

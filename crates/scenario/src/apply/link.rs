//! Changes by remedies between the endpoints: the link, the access point, and receivers' reaction
//! to outages.

use airtcp_link::agent::{AgentConfig, AnyAgent};
use airtcp_link::{AckFilter, CakeConfig, Delay, Discipline, QueueLimit, Stream, Tins};
use airtcp_remedies::{LinkChange, MediumChange, OutageReaction};

use crate::error::Problem;
use crate::link::{AccessPoint, Link};
use crate::names::Topology;

/// Applies the changes to the link; returns the access point's agents, and receivers' reaction to
/// outages. `stamped` if any endpoint sends timestamps.
pub(super) fn change(
    link: &mut Link,
    topology: Topology,
    mut changes: Vec<LinkChange>,
    stamped: bool,
) -> Result<(AccessPoint, Option<OutageReaction>), Problem> {
    changes.sort_by_key(layer);
    let mut disciplines = changes.iter().filter_map(|change| match change {
        LinkChange::Medium(MediumChange::Discipline(discipline)) => Some(*discipline),
        _ => None,
    });
    let discipline = disciplines.next();
    if disciplines.next().is_some() {
        return Err(refused(
            "two of them set the queue's discipline (\"abc\" brings one); give one of them",
        ));
    }
    let mut access_point = AccessPoint::default();
    let mut reaction = None;
    for change in changes {
        match change {
            LinkChange::Medium(change) => change_link(link, change)?,
            LinkChange::AckFilter => filter_acks(link, discipline)?,
            LinkChange::Agent(agent) => access_point.agents.push(agent),
            LinkChange::Split { buffer } => access_point.split_buffer = Some(buffer),
            LinkChange::Outages(other) => reaction = Some(other),
        }
    }
    check(&access_point, link, topology, stamped)?;
    if reaction.is_some() {
        foresee(link)?;
    }
    Ok((access_point, reaction))
}

/// Checks that receivers can foresee when the link goes away.
fn foresee(link: &Link) -> Result<(), Problem> {
    match link.outages().len() {
        0 => Err(refused(
            "freeze-tcp and hand-off-acks are about a link that goes away: give link.stops, \
             wlan.outage, cell.outage, cell.handover, arq.outage or selective_repeat.outage",
        )),
        1 => Ok(()),
        _ => Err(refused(
            "freeze-tcp and hand-off-acks follow one schedule, and cell.outage and cell.handover \
             are two: leave one of them out",
        )),
    }
}

/// Where a change acts, from the queue inwards to the radio: stations' queues replace a queue's
/// length and discipline, and an airtime limit needs them.
const fn layer(change: &LinkChange) -> u8 {
    match change {
        LinkChange::Medium(MediumChange::Queue(_)) => 0,
        LinkChange::Medium(MediumChange::Discipline(_)) => 1,
        LinkChange::AckFilter => 2,
        LinkChange::Medium(MediumChange::StationQueueing(_)) => 3,
        LinkChange::Medium(_) => 4,
        LinkChange::Agent(_) | LinkChange::Split { .. } | LinkChange::Outages(_) => 5,
    }
}

fn change_link(link: &mut Link, change: MediumChange) -> Result<(), Problem> {
    match (link, change) {
        (Link::Pipe { data, .. }, MediumChange::Queue(_) | MediumChange::Discipline(_))
            if !matches!(data.delay, Delay::Constant(_)) =>
        {
            let part = match change {
                MediumChange::Queue(_) => "length",
                _ => "discipline",
            };
            Err(refused(&format!(
                "recorded round-trip times (link.rtt_log) hold the queue they were recorded with; \
                 its {part} cannot be changed"
            )))
        }
        (Link::Pipe { data, .. }, MediumChange::Queue(packets)) => {
            data.queue = QueueLimit::Packets(packets);
            Ok(())
        }
        (Link::Pipe { data, .. }, MediumChange::Discipline(discipline)) => {
            data.discipline = discipline;
            Ok(())
        }
        (Link::Pipe { data, .. }, MediumChange::Fec(fec)) => {
            data.fec = Some(fec);
            Ok(())
        }
        (Link::Medium(_), MediumChange::Discipline(discipline))
            if discipline.shaper().is_some() =>
        {
            Err(refused(
                "a shaper stands in front of a link with a rate of its own; leave the rate out, \
                 or set topology = \"pipe\"",
            ))
        }
        (Link::Medium(medium), change) => match medium.change(change) {
            true => Ok(()),
            false => Err(refused(needs(change))),
        },
        (Link::Pipe { .. }, change) => Err(refused(needs(change))),
    }
}

const NO_AGGREGATES: &str = "there are no aggregates; set topology = \"wlan\" and wlan.standard = \
                             \"802.11n\", \"802.11ac\" or \"802.11ax\"";

/// Why a link cannot be changed so, and which one can.
const fn needs(change: MediumChange) -> &'static str {
    match change {
        MediumChange::Queue(_) => "there is no queue; set topology = \"pipe\"",
        MediumChange::Discipline(_) => {
            "this radio's queue is drop-tail in its hardware; set topology = \"pipe\", or \
             wlan.standard = \"802.11n\", \"802.11ac\" or \"802.11ax\""
        }
        MediumChange::Fec(_) => {
            "this radio corrects errors and retransmits frames itself; set topology = \"pipe\""
        }
        MediumChange::StationQueueing(_) => {
            "there is no access point with a queue for each station; set topology = \"wlan\" and \
             wlan.standard = \"802.11n\", \"802.11ac\" or \"802.11ax\""
        }
        MediumChange::AirtimeLimit(_) => {
            "nothing bounds what waits in the hardware; set wlan.scheduler = \"airtime\", or \
             combine it with airtime-fairness"
        }
        MediumChange::AggregateTime(_) | MediumChange::BurstTime(_) => NO_AGGREGATES,
        MediumChange::MobileAttempts(_) => {
            "there are no frames that a mobile retransmits; set topology = \"wlan\" or \
             \"selective-repeat\""
        }
        MediumChange::AccessPointAttempts(_) => {
            "there are no frames whose attempts an access point counts; set topology = \"wlan\""
        }
        MediumChange::StationAttempts { .. } => {
            "there is no such mobile; set topology = \"wlan\", and \
             wlan.stations or flows.count to at least the mobile's number"
        }
        MediumChange::Order(_) => {
            "dynamic-arq orders an access point's retransmissions frame by frame; set topology = \
             \"arq\", \"selective-repeat\", \"wlan\" with wlan.standard = \"802.11b\", \
             \"802.11g\" or \"802.11a\", or \"cell\" with cell.standard = \"lte\" or \"nr\" and \
             per-packet = 0"
        }
    }
}

/// The remedy `ack-filter`: in front of the acknowledgments' way over a pipe, or in the queues of
/// all stations, where `other` is the discipline that another remedy has given them.
fn filter_acks(link: &mut Link, other: Option<Discipline>) -> Result<(), Problem> {
    let alone = CakeConfig {
        tins: Tins::BestEffort,
        ..CakeConfig::default()
    };
    let filtering = |cake| {
        Discipline::Cake(CakeConfig {
            ack_filter: AckFilter::On,
            ..cake
        })
    };
    match (link, other) {
        (Link::Pipe { acks, .. }, _) if !matches!(acks.delay, Delay::Constant(_)) => Err(refused(
            "recorded round-trip times (link.rtt_log) hold the queue they were recorded with; \
             acknowledgments do not wait where they could be filtered",
        )),
        (Link::Pipe { acks, .. }, _) => {
            acks.discipline = filtering(match acks.discipline {
                Discipline::Cake(cake) => cake,
                _ => alone,
            });
            Ok(())
        }
        (link, None) => change_link(link, MediumChange::Discipline(filtering(alone))),
        (link, Some(Discipline::Cake(cake))) => {
            change_link(link, MediumChange::Discipline(filtering(cake)))
        }
        (_, Some(_)) => Err(refused(
            "ack-filter is a part of CAKE; give it alone, or with cake",
        )),
    }
}

/// Checks that the access point exists and its agents can work there.
fn check(
    access_point: &AccessPoint,
    link: &Link,
    topology: Topology,
    stamped: bool,
) -> Result<(), Problem> {
    let AccessPoint {
        agents,
        split_buffer,
    } = access_point;
    let is_used = !agents.is_empty() || split_buffer.is_some();
    if is_used && topology == Topology::Dumbbell {
        return Err(refused(
            "a dumbbell has no access point; set topology = \"pipe\" or one with a radio",
        ));
    }
    agents
        .iter()
        .try_for_each(|agent| check_agent(agent, link, stamped))
}

fn check_agent(agent: &AgentConfig, link: &Link, stamped: bool) -> Result<(), Problem> {
    if matches!(agent, AgentConfig::AdaptiveDelay(_)) && !stamped {
        return Err(refused(
            "\"delay-injection\" would change nothing here: it tells a delay spike by timestamps; \
             set tcp.timestamps = true, or combine it with the remedy timestamps",
        ));
    }
    if agent.listens_to_link() && matches!(link, Link::Pipe { .. }) {
        return Err(refused(
            "a pipe sends nothing again, so there is nothing to tell; set topology = \"wlan\", \
             \"selective-repeat\" or \"arq\"",
        ));
    }
    AnyAgent::<()>::new(agent, Stream::new(0, ""))
        .map(|_| ())
        .map_err(|error| refused(&error.to_string()))
}

fn refused(why: &str) -> Problem {
    Problem::at("remedies", why)
}

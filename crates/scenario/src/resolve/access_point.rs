//! Changes by remedies between the endpoints: the link, the access point, and receivers' foresight.

use airtcp_link::Stream;
use airtcp_link::agent::{AgentConfig, AnyAgent};
use airtcp_link::mac::edca::queueing::Queueing;
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_remedies::LinkChanges;
use airtcp_units::Duration;

use super::link;
use crate::error::Problem;
use crate::link::{AccessPoint, Link};
use crate::medium::WirelessMedium;
use crate::names::Topology;

/// Applies the changes to the link; returns the access point's agents, and how early receivers know
/// of outages. `stamped` if any endpoint sends timestamps.
pub(super) fn change(
    link: &mut Link,
    topology: Topology,
    changes: LinkChanges,
    stamped: bool,
) -> Result<(AccessPoint, Option<Duration>), Problem> {
    let LinkChanges {
        queue_packets,
        discipline,
        filters_acks,
        station_queueing,
        airtime_limit,
        aggregate_time,
        burst_time,
        mobile_attempts,
        access_point_attempts,
        agents,
        order,
        split_buffer,
        freeze_warning,
        hand_off_acks,
    } = changes;
    if let Some(packets) = queue_packets {
        link::change_queue(link, packets)?;
    }
    if let Some(discipline) = discipline {
        link::change_discipline(link, discipline)?;
    }
    if filters_acks {
        link::filter_acks(link, discipline)?;
    }
    if let Some(queueing) = station_queueing {
        change_queueing(link, queueing)?;
    }
    if let Some(limit) = airtime_limit {
        change_medium(
            link,
            |medium| medium.set_airtime_limit(limit),
            "nothing bounds what waits in the hardware; set wlan.scheduler = \"airtime\", or \
             combine it with airtime-fairness",
        )?;
    }
    if let Some(time) = aggregate_time {
        change_medium(
            link,
            |medium| medium.set_aggregate_time(time),
            NO_AGGREGATES,
        )?;
    }
    if let Some(time) = burst_time {
        change_medium(link, |medium| medium.set_burst_time(time), NO_AGGREGATES)?;
    }
    if let Some(limit) = mobile_attempts {
        change_medium(
            link,
            |medium| medium.set_mobile_attempts(limit),
            "there are no frames that a mobile retransmits; set topology = \"wlan\" or \
             \"selective-repeat\"",
        )?;
    }
    if let Some(limit) = access_point_attempts {
        change_medium(
            link,
            |medium| medium.set_access_point_attempts(limit),
            "there are no frames whose attempts an access point counts; set topology = \"wlan\"",
        )?;
    }
    if let Some(order) = order {
        change_order(link, RetransmissionOrder::Deadline(order))?;
    }
    let at_access_point = !agents.is_empty() || split_buffer.is_some();
    if at_access_point && topology == Topology::Dumbbell {
        return Err(remedies(
            "a dumbbell has no access point; set topology = \"pipe\" or one with a radio",
        ));
    }
    for agent in &agents {
        check(agent, link, stamped)?;
    }
    if (freeze_warning.is_some() || hand_off_acks) && link.outage().is_none() {
        return Err(remedies(
            "freeze-tcp and hand-off-acks are about a link that goes away: give link.suspension, \
             wlan.outage, arq.outage or selective_repeat.outage",
        ));
    }
    let access_point = AccessPoint {
        agents,
        split_buffer,
    };
    Ok((access_point, freeze_warning))
}

const NO_AGGREGATES: &str = "there are no aggregates; set topology = \"wlan\" and wlan.standard = \
                             \"802.11n\", \"802.11ac\" or \"802.11ax\"";

/// Applies a change to the medium, or explains why it has no place there.
fn change_medium(
    link: &mut Link,
    change: impl FnOnce(&mut dyn WirelessMedium) -> bool,
    why: &str,
) -> Result<(), Problem> {
    let changed = match link {
        Link::Medium(medium) => change(medium.as_mut()),
        Link::Pipe { .. } => false,
    };
    changed.then_some(()).ok_or_else(|| remedies(why))
}

fn change_queueing(link: &mut Link, queueing: Queueing) -> Result<(), Problem> {
    let changed = match link {
        Link::Medium(medium) => medium.set_station_queueing(queueing),
        Link::Pipe { .. } => false,
    };
    changed.then_some(()).ok_or_else(|| {
        remedies(
            "there is no access point with a queue for each station; set topology = \"wlan\" and \
             wlan.standard = \"802.11n\", \"802.11ac\" or \"802.11ax\"",
        )
    })
}

fn change_order(link: &mut Link, order: RetransmissionOrder) -> Result<(), Problem> {
    let changed = match link {
        Link::Medium(medium) => medium.set_order(order),
        Link::Pipe { .. } => false,
    };
    changed.then_some(()).ok_or_else(|| {
        remedies(
            "dynamic-arq orders an access point's retransmissions frame by frame; set \
             topology = \"arq\", \"selective-repeat\", or \"wlan\" \
             with wlan.standard = \"802.11b\", \"802.11g\" or \"802.11a\"",
        )
    })
}

fn check(agent: &AgentConfig, link: &Link, stamped: bool) -> Result<(), Problem> {
    if matches!(agent, AgentConfig::AdaptiveDelay(_)) && !stamped {
        return Err(remedies(
            "\"delay-injection\" would change nothing here: it tells a delay spike by timestamps; \
             set tcp.timestamps = true, or combine it with the remedy timestamps",
        ));
    }
    if agent.listens_to_link() && matches!(link, Link::Pipe { .. }) {
        return Err(remedies(
            "a pipe sends nothing again, so there is nothing to tell; set topology = \"wlan\", \
             \"selective-repeat\" or \"arq\"",
        ));
    }
    AnyAgent::<()>::new(agent, Stream::new(0, ""))
        .map(|_| ())
        .map_err(|error| remedies(&error.to_string()))
}

fn remedies(why: &str) -> Problem {
    Problem::at("remedies", why)
}

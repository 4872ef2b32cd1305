//! `[flows]`.

use airtcp_units::Duration;

use crate::document::{Directions, FlowsTable, PingTable, ScreamTable, UdpTable};
use crate::error::Problem;
use crate::names::{FlowDirection, FlowKind, Topology};
use crate::{Bursts, Datagrams, Flows, Ping, Scream, Udp};
use airtcp_units::bounded::{Whole, Within};

pub(super) fn resolve(
    table: &FlowsTable,
    topology: Topology,
    duration: Duration,
) -> Result<Flows, Problem> {
    let count = table.count();
    let start_spread = table.start_spread();
    if start_spread > duration {
        return Err(Problem::at(
            key!(flows.start_spread),
            format!("expected at most the duration ({duration}), or flows would never start"),
        ));
    }
    let bytes = table.bytes();
    let request = table.request.map(|request| request.get().as_bytes());
    let access_delay = if topology == Topology::Dumbbell {
        let delays = table.access_delay.as_deref().unwrap_or_default();
        if delays.is_empty() {
            return Err(Problem::at(
                key!(flows.access_delay),
                "expected at least one delay, such as [\"5 ms\"]",
            ));
        }
        delays.iter().copied().map(Within::get).collect()
    } else {
        let why = "only a dumbbell has access lines; set topology = \"dumbbell\"";
        refuse_keys!(table, key!(flows), why; access_delay);
        Vec::new()
    };
    let directions = match &table.direction {
        None => vec![FlowDirection::default()],
        Some(Directions::One(direction)) => vec![*direction],
        Some(Directions::Several(directions)) => directions.clone(),
    };
    if directions.is_empty() {
        return Err(Problem::at(
            key!(flows.direction),
            "expected at least one direction, such as [\"up\"]",
        ));
    }
    let datagrams = datagrams(table)?;
    let unchanged = table.unchanged.map_or(0, Whole::get_u32);
    if unchanged > count {
        return Err(Problem::at(
            key!(flows.unchanged),
            format!("expected at most flows.count, which is {count}"),
        ));
    }
    let under_load = table.under_load.clone().unwrap_or_default();
    if let Some((place, twice)) = (1..)
        .zip(under_load.iter().skip(1))
        .find(|&(place, one)| under_load[..place].contains(one))
    {
        return Err(Problem::at(
            format!("flows.under_load[{place}]"),
            format!("{twice:?} is there twice; name each once"),
        ));
    }
    let flows = Flows {
        count,
        unchanged,
        under_load,
        start_spread,
        bytes,
        request,
        access_delay,
        directions,
        datagrams,
    };
    if !flows.has_tcp() {
        let why = "is for TCP, and flows.kind names none; remove it";
        refuse_keys!(flows, key!(flows), why; bytes, request);
    }
    Ok(flows)
}

/// Datagram flows in place of TCP connections, used in turn; empty if all are TCP.
fn datagrams(table: &FlowsTable) -> Result<Vec<Option<Datagrams>>, Problem> {
    if table.kind.is_some() && table.kinds().is_empty() {
        return Err(Problem::at(
            key!(flows.kind),
            "expected at least one kind, such as [\"tcp\", \"ping\"]",
        ));
    }
    let datagrams = |kind: &FlowKind| {
        Ok(match kind {
            FlowKind::Tcp => None,
            FlowKind::Udp => Some(Datagrams::Udp(udp(&table.udp.unwrap_or_default())?)),
            FlowKind::Ping => Some(Datagrams::Ping(ping(&table.ping.unwrap_or_default()))),
            FlowKind::Scream => {
                let table = table.scream.unwrap_or_default();
                Some(Datagrams::Scream(scream(&table)?))
            }
        })
    };
    table.kinds().iter().map(datagrams).collect()
}

fn udp(table: &UdpTable) -> Result<Udp, Problem> {
    let bursts = match (table.on, table.off) {
        (None, None) => None,
        (Some(on), Some(off)) => Some(Bursts {
            on: on.get(),
            off: off.get(),
        }),
        (Some(_), None) => {
            let expected = "expected flows.udp.off with it, the mean time of a silence";
            return Err(Problem::at(key!(flows.udp.on), expected));
        }
        (None, Some(_)) => {
            let expected = "expected flows.udp.on with it, the mean time of sending";
            return Err(Problem::at(key!(flows.udp.off), expected));
        }
    };
    Ok(Udp {
        rate: table.rate(),
        size: table.size(),
        bursts,
    })
}

fn ping(table: &PingTable) -> Ping {
    Ping {
        interval: table.interval(),
        size: table.size(),
    }
}

fn scream(table: &ScreamTable) -> Result<Scream, Problem> {
    let scream = Scream {
        start: table.start(),
        least: table.least(),
        most: table.most(),
        frame: table.frame(),
        size: table.size(),
    };
    if scream.least > scream.most {
        return Err(Problem::at(
            key!(flows.scream.least),
            format!(
                "expected at most flows.scream.most, which is {}",
                scream.most
            ),
        ));
    }
    if !(scream.least..=scream.most).contains(&scream.start) {
        return Err(Problem::at(
            key!(flows.scream.start),
            format!(
                "expected a rate from flows.scream.least to flows.scream.most, {} to {}",
                scream.least, scream.most
            ),
        ));
    }
    Ok(scream)
}

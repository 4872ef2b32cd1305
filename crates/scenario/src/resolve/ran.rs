//! `[cell]` with `standard = "lte"` or `"nr"`.

use std::num::NonZeroU32;

use airtcp_link::mac::damage::Outage;
use airtcp_link::mac::ran::config::{
    CqiConfig, Generation, HandoverConfig, HarqConfig, OuterLoopConfig, PdcpConfig, RanConfig,
    RanError, RlcConfig, RlcMode, UplinkConfig,
};
use airtcp_link::mac::ran::drx::DrxConfig;
use airtcp_link::mac::ran::session::SessionConfig;
use airtcp_units::Duration;
use airtcp_units::bounded::Whole;
use airtcp_units::written::read;

use super::carrier::Carriers;
use super::cell::{MAX_USERS, scheduler};
use super::queue::queue;
use super::{aqm, damage, radio};
use crate::document::{CellTable, DrxTable, HarqTable, PdcpTable, Rlc, RlcTable, USUAL_GAP_DB};
use crate::error::Problem;
use crate::medium::RanLink;

/// Carriers in MHz: bands 3 and n78.
const LTE_CARRIER_MHZ: f64 = 1_800.0;
const NR_CARRIER_MHZ: f64 = 3_500.0;

/// The cell of LTE or NR for `flows` flows.
pub(super) fn resolve(
    table: &CellTable,
    generation: Generation,
    carriers: Carriers,
    flows: u32,
) -> Result<RanLink, Problem> {
    let users = users(table, flows)?;
    let slot = carriers.frame.slot;
    let usual_mhz = match generation {
        Generation::Lte => LTE_CARRIER_MHZ,
        Generation::Nr => NR_CARRIER_MHZ,
    };
    let radio = table.radio.clone().unwrap_or_default();
    let air = radio::resolve(&radio, key!(cell.radio), usual_mhz)?;
    let cqi = table.cqi.unwrap_or_default();
    let outer = table.outer_loop.unwrap_or_default();
    let uplink = table.uplink.unwrap_or_default();
    let (rlc, reestablishment) = rlc(&table.rlc.unwrap_or_default())?;
    let config = RanConfig {
        frame: carriers.frame,
        down: carriers.down,
        up: carriers.up,
        scheduler: scheduler(table)?,
        gap_db: read(&table.gap_db, &USUAL_GAP_DB),
        cqi: CqiConfig {
            period: at_least_one(slots(cqi.period(), slot)),
            delay: slots(cqi.delay(), slot),
        },
        outer_loop: OuterLoopConfig {
            target: outer.target(),
            step_db: outer.step_db(),
        },
        harq: harq(&table.harq.unwrap_or_default()),
        generation,
        rlc,
        pdcp: pdcp(&table.pdcp.unwrap_or_default(), generation),
        uplink: UplinkConfig {
            request_period: at_least_one(slots(uplink.request_period(), slot)),
            request_grant: uplink.request_grant(),
            queue: queue(uplink.queue()),
            power_offset_db: uplink.transmit_power_dbm() - air.config.transmit_power_dbm,
        },
        drx: table
            .drx
            .as_ref()
            .map(|drx| self::drx(drx, slot))
            .transpose()?,
        handover: handover(table, rlc.mode)?,
        reestablishment,
        outage: outage(table)?,
        radios: Vec::new(),
        saturated: table.saturated_users(),
        sessions: sessions(table)?,
        queue: queue(table.queue()),
        discipline: aqm::or_drop_tail(table.aqm.as_ref(), key!(cell.aqm))?,
        order: None,
        report_retries: false,
    };
    let link = RanLink {
        config,
        air,
        users: (users, table.saturated_users()),
    };
    link.check().map_err(|error| {
        let key = match error {
            RanError::Slot => key!(cell.subcarrier_spacing),
            RanError::Pattern => key!(cell.tdd_pattern),
            RanError::Blocks => key!(cell.bandwidth_mhz),
            RanError::Users => key!(flows.count),
            RanError::TimeConstant(_) => key!(cell.time_constant),
            RanError::Step(_) => key!(cell.outer_loop.step_db),
            RanError::Target(_) => key!(cell.outer_loop.target),
        };
        Problem::at(key, error.to_string())
    })?;
    Ok(link)
}

/// Users with flows.
fn users(table: &CellTable, flows: u32) -> Result<u32, Problem> {
    if let Some(users) = table.users {
        return Ok(users.get_u32().min(flows.max(1)));
    }
    if flows > MAX_USERS {
        return Err(Problem::at(
            key!(flows.count),
            format!("expected at most {MAX_USERS}, or cell.users: there is a user for each flow"),
        ));
    }
    Ok(flows)
}

/// Slots that last at least `time`.
fn slots(time: Duration, slot: Duration) -> u32 {
    u32::try_from(time.as_nanos().div_ceil(slot.as_nanos())).unwrap_or(u32::MAX)
}

fn at_least_one(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

fn harq(table: &HarqTable) -> HarqConfig {
    HarqConfig {
        processes: at_least_one(table.processes.map_or(1, Whole::get_u32)),
        transmissions: damage::attempts(table.transmissions()),
        nack_to_ack: table.nack_to_ack(),
    }
}

fn rlc(table: &RlcTable) -> Result<(RlcConfig, Duration), Problem> {
    let config = RlcConfig {
        mode: table.mode().into(),
        window: NonZeroU32::MIN,
        poll_pdu: None,
        poll_byte: None,
        poll_retransmit: Duration::ZERO,
        status_prohibit: Duration::ZERO,
        reordering: table.reordering(),
        max_retransmissions: damage::attempts(None),
    };
    Ok(match Rlc::of(table, key!(cell.rlc))? {
        Rlc::Unacknowledged {} => (config, Duration::ZERO),
        Rlc::Acknowledged {
            window,
            poll_pdu,
            poll_byte,
            poll_retransmit,
            status_prohibit,
            max_retransmissions,
            reestablishment,
        } => {
            let config = RlcConfig {
                window: at_least_one(window.get_u32()),
                poll_pdu: poll_pdu.get_u32().and_then(NonZeroU32::new),
                poll_byte: poll_byte.at().map(|bytes| bytes.get().as_bytes()),
                poll_retransmit: poll_retransmit.get(),
                status_prohibit,
                max_retransmissions: damage::attempts(max_retransmissions),
                ..config
            };
            (config, reestablishment)
        }
    })
}

fn pdcp(table: &PdcpTable, generation: Generation) -> PdcpConfig {
    PdcpConfig {
        discard: table.discard(),
        reordering: match generation {
            Generation::Lte => Duration::ZERO,
            Generation::Nr => table.reordering(),
        },
    }
}

fn drx(table: &DrxTable, slot: Duration) -> Result<DrxConfig, Problem> {
    let (on, long) = (table.on_duration(), table.long_cycle());
    if on > long {
        return Err(Problem::at(
            key!(cell.drx.on_duration),
            format!("expected at most cell.drx.long_cycle, which is {long}"),
        ));
    }
    let count = |time| u64::from(slots(time, slot));
    let short_cycle = match table.short_cycle {
        None => None,
        Some(short) if short.get() < on || short.get() > long => {
            let expected = format!("expected from on_duration to long_cycle, {on} to {long}");
            return Err(Problem::at(key!(cell.drx.short_cycle), expected));
        }
        Some(short) => Some((count(short.get()), u64::from(table.short_cycles()))),
    };
    Ok(DrxConfig {
        on_duration: count(on),
        inactivity: count(table.inactivity()),
        long_cycle: count(long),
        short_cycle,
    })
}

fn handover(table: &CellTable, mode: RlcMode) -> Result<Option<HandoverConfig>, Problem> {
    let Some(table) = &table.handover else {
        return Ok(None);
    };
    let (every, gap) = (table.every.get(), table.gap());
    if gap >= every {
        return Err(Problem::at(
            key!(cell.handover.gap),
            format!("expected less than cell.handover.every, which is {every}"),
        ));
    }
    Ok(Some(HandoverConfig {
        every,
        gap,
        is_lossless: mode == RlcMode::Acknowledged && table.lossless(),
    }))
}

fn outage(table: &CellTable) -> Result<Option<Outage>, Problem> {
    table
        .outage
        .map(|outage| damage::away(outage, key!(cell.outage)))
        .transpose()
}

fn sessions(table: &CellTable) -> Result<Option<SessionConfig>, Problem> {
    let saturated = table.saturated_users();
    let Some(sessions) = &table.sessions else {
        return Ok(None);
    };
    if saturated == 0 {
        return Err(Problem::at(
            key!(cell.sessions),
            "is of saturated users, and there is none; remove it, or give cell.saturated_users",
        ));
    }
    Ok(Some(SessionConfig {
        on: sessions.on.get(),
        off: sessions.off(),
    }))
}

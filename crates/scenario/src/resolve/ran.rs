//! `[cell]` with `standard = "lte"` or `"nr"`.

use std::num::NonZeroU32;

use airtcp_link::mac::damage::Outage;
use airtcp_link::mac::ran::config::{
    CqiConfig, Generation, HandoverConfig, HarqConfig, OuterLoopConfig, PdcpConfig, RanConfig,
    RanError, RlcConfig, RlcMode, UplinkConfig,
};
use airtcp_link::mac::ran::drx::DrxConfig;
use airtcp_link::mac::ran::session::SessionConfig;
use airtcp_link::{Discipline, QueueLimit};
use airtcp_units::Duration;
use airtcp_units::written::Written;

use super::cell::{MAX_USERS, scheduler};
use super::queue::queue;
use super::{aqm, carrier, damage, radio};
use crate::document::{CellTable, DrxTable, QueueTable, RlcTable};
use crate::error::Problem;
use crate::medium::RanLink;
use crate::names::CellStandard;

/// Packets of a user that wait at the base station, by default: seconds at a
/// cell's usual rates, as operators have it (H. Jiang, Y. Wang, K. Lee & I. Rhee, "Tackling
/// bufferbloat in 3G/4G networks", IMC 2012), and the default of srsRAN Project's RLC.
const QUEUE_PACKETS: u32 = 4_096;
/// Packets that wait at a user: the length of a network device's queue in Linux.
const UPLINK_PACKETS: u32 = 1_000;
/// Carriers in MHz: bands 3 and n78.
const LTE_CARRIER_MHZ: f64 = 1_800.0;
const NR_CARRIER_MHZ: f64 = 3_500.0;

/// The cell of LTE or NR for `flows` flows.
pub(super) fn resolve(
    table: &mut CellTable,
    standard: CellStandard,
    flows: u32,
) -> Result<RanLink, Problem> {
    let why = "belongs to cell.standard = \"1xev-do\"; remove it, or choose that";
    refuse_keys!(
        table, key!(cell), why;
        slot, rates, block_error, arq_delay, retry_limit, uplink_delay
    );
    let users = users(table, flows)?;
    let generation = match standard {
        CellStandard::Lte => Generation::Lte,
        _ => Generation::Nr,
    };
    let carriers = carrier::resolve(table, standard)?;
    let slot = carriers.frame.slot;
    let usual_mhz = match generation {
        Generation::Lte => LTE_CARRIER_MHZ,
        Generation::Nr => NR_CARRIER_MHZ,
    };
    let radio = table.radio.get_or_insert_default();
    let air = radio::resolve(radio, key!(cell.radio), usual_mhz)?;
    let (cqi, outer) = (
        table.cqi.get_or_insert_default(),
        table.outer_loop.get_or_insert_default(),
    );
    let cqi = CqiConfig {
        period: at_least_one(slots(cqi.period(), slot)),
        delay: slots(cqi.delay(), slot),
    };
    let outer_loop = OuterLoopConfig {
        target: outer.target(),
        step_db: outer.step_db(),
    };
    let uplink = table.uplink.get_or_insert_default();
    let uplink = UplinkConfig {
        request_period: at_least_one(slots(uplink.request_period(), slot)),
        request_grant: uplink.request_grant(),
        queue: queue_limit(uplink.queue.get_or_insert_default(), UPLINK_PACKETS),
        power_offset_db: uplink.transmit_power_dbm() - air.config.transmit_power_dbm,
    };
    let (rlc, reestablishment) = rlc(table.rlc.get_or_insert_default(), generation)?;
    let config = RanConfig {
        frame: carriers.frame,
        down: carriers.down,
        up: carriers.up,
        scheduler: scheduler(table)?,
        gap_db: table.gap_db(),
        cqi,
        outer_loop,
        harq: harq(table, generation),
        generation,
        rlc,
        pdcp: pdcp(table, generation)?,
        uplink,
        drx: table
            .drx
            .as_mut()
            .map(|drx| self::drx(drx, slot))
            .transpose()?,
        handover: handover(table, rlc.mode)?,
        reestablishment,
        outage: outage(table)?,
        radios: Vec::new(),
        saturated: table.saturated_users(),
        sessions: sessions(table)?,
        queue: queue_limit(table.queue.get_or_insert_default(), QUEUE_PACKETS),
        discipline: discipline(table)?,
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
fn users(table: &mut CellTable, flows: u32) -> Result<u32, Problem> {
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

fn harq(table: &mut CellTable, generation: Generation) -> HarqConfig {
    let table = table.harq.get_or_insert_default();
    let usual = match generation {
        Generation::Lte => 8,
        Generation::Nr => 16,
    };
    let processes: u32 = Written::fill(&mut table.processes, &usual);
    HarqConfig {
        processes: at_least_one(processes),
        transmissions: damage::attempts(table.transmissions()),
        nack_to_ack: table.nack_to_ack(),
    }
}

fn rlc(table: &mut RlcTable, generation: Generation) -> Result<(RlcConfig, Duration), Problem> {
    let mode: RlcMode = table.mode().into();
    let (window, poll_pdu, poll_byte, poll_ms) = match generation {
        Generation::Lte => (512, 64, 750_000, 120),
        Generation::Nr => (131_072, 4, 3_000_000, 50),
    };
    if mode == RlcMode::Unacknowledged {
        let why = "belongs to cell.rlc.mode = \"am\"; remove it, or choose that";
        refuse_keys!(
            table, key!(cell.rlc), why;
            window, poll_pdu, poll_byte, poll_retransmit, status_prohibit, max_retransmissions,
            reestablishment
        );
        return Ok((
            RlcConfig {
                mode,
                window: NonZeroU32::MIN,
                poll_pdu: None,
                poll_byte: None,
                poll_retransmit: Duration::ZERO,
                status_prohibit: Duration::ZERO,
                reordering: table.reordering(),
                max_retransmissions: damage::attempts(None),
            },
            Duration::ZERO,
        ));
    }
    let poll_pdu: Option<u32> = Written::fill(&mut table.poll_pdu, &Some(poll_pdu));
    let poll_byte: Option<u64> = Written::fill(&mut table.poll_byte, &Some(poll_byte));
    let window: u32 = Written::fill(&mut table.window, &window);
    let config = RlcConfig {
        mode,
        window: at_least_one(window),
        poll_pdu: poll_pdu.and_then(NonZeroU32::new),
        poll_byte,
        poll_retransmit: Written::fill(&mut table.poll_retransmit, &Duration::from_millis(poll_ms)),
        status_prohibit: table.status_prohibit(),
        reordering: table.reordering(),
        max_retransmissions: damage::attempts(table.max_retransmissions()),
    };
    Ok((config, table.reestablishment()))
}

fn pdcp(table: &mut CellTable, generation: Generation) -> Result<PdcpConfig, Problem> {
    let table = table.pdcp.get_or_insert_default();
    let discard = table.discard();
    if generation == Generation::Lte {
        let why = "belongs to cell.standard = \"nr\": LTE orders packets in RLC \
                   (cell.rlc.reordering); remove it, or choose that";
        refuse_keys!(table, key!(cell.pdcp), why; reordering);
        return Ok(PdcpConfig {
            discard,
            reordering: Duration::ZERO,
        });
    }
    Ok(PdcpConfig {
        discard,
        reordering: table.reordering(),
    })
}

fn drx(table: &mut DrxTable, slot: Duration) -> Result<DrxConfig, Problem> {
    let (on, long) = (table.on_duration(), table.long_cycle());
    if on > long {
        return Err(Problem::at(
            key!(cell.drx.on_duration),
            format!("expected at most cell.drx.long_cycle, which is {long}"),
        ));
    }
    let count = |time| u64::from(slots(time, slot));
    let short_cycle = match table.short_cycle {
        None => {
            let why = "counts cell.drx.short_cycle, which is left out; remove it, or give that";
            refuse_keys!(table, key!(cell.drx), why; short_cycles);
            None
        }
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

fn handover(table: &mut CellTable, mode: RlcMode) -> Result<Option<HandoverConfig>, Problem> {
    let Some(table) = &mut table.handover else {
        return Ok(None);
    };
    let (every, gap) = (table.every.get(), table.gap());
    if gap >= every {
        return Err(Problem::at(
            key!(cell.handover.gap),
            format!("expected less than cell.handover.every, which is {every}"),
        ));
    }
    if mode == RlcMode::Unacknowledged {
        let why = "belongs to cell.rlc.mode = \"am\": in \"um\" a handover loses packets in \
                   transit; remove it, or choose that";
        refuse_keys!(table, key!(cell.handover), why; lossless);
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

fn sessions(table: &mut CellTable) -> Result<Option<SessionConfig>, Problem> {
    let saturated = table.saturated_users();
    let Some(sessions) = &mut table.sessions else {
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

fn queue_limit(table: &mut QueueTable, usual: u32) -> QueueLimit {
    if table.bytes.is_none() {
        let _: u32 = Written::fill(&mut table.packets, &usual);
    }
    queue(table)
}

fn discipline(table: &mut CellTable) -> Result<Discipline, Problem> {
    let Some(table) = &mut table.aqm else {
        return Ok(Discipline::DropTail);
    };
    let why = "belongs to a pipe: the radio sets the rate here; remove it, or set topology = \
               \"pipe\"";
    refuse_keys!(table, key!(cell.aqm), why; rate);
    aqm::resolve(table, key!(cell.aqm))
}

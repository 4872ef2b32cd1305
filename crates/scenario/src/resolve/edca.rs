//! `[wlan]` with 802.11n, ac or ax: aggregation, access categories, queues for stations.

use airtcp_link::mac::edca::{
    AccessCategory, AccessParameters, AmpduLimits, BlockAckConfig, EdcaConfig, EdcaError,
    QOS_OVERHEAD, Queueing, QueueingConfig,
};
use airtcp_link::phy::Family;
use airtcp_link::scheduler::airtime::AirtimeLimits;
use airtcp_link::{Discipline, QueueLimit};

use super::damage::{attempts, damage, own_attempts, refuse_error_model};
use super::modes::{self, Modes};
use super::queue::queue;
use super::{aqm, radio};
use crate::document::{
    AggregationTable, AirtimeTable, CategoryTable, EdcaTable, Packets, QueueTable, WlanTable,
};
use crate::error::Problem;
use crate::medium::edca::{AggregatingWlan, DRIVER_QUEUE, STATION_QUEUES, STATION_TARGET};
use crate::names::{
    AccessCategoryName, CodePoint, CollisionHeard, DisciplineName, HandOn, MissedBlockAck,
    Standard, StationScheduler,
};
use airtcp_units::bounded::Within;
use airtcp_units::written::Written;

/// Packets that may wait in a device's queue (Linux, `txqueuelen`).
const DEVICE_QUEUE: u32 = 1_000;

/// Resolves the channel for that many flows.
pub(super) fn resolve(
    table: &mut WlanTable,
    standard: Standard,
    flows: u32,
    marks: Option<&[CodePoint]>,
) -> Result<AggregatingWlan, Problem> {
    refuse_legacy(table)?;
    let Modes {
        phy,
        of_stations,
        rate_control,
        protection,
    } = modes::resolve(table, standard)?;
    let family = phy.standard().family();
    let stations = Written::fill(&mut table.stations, &flows);
    let (mut mobile, mut access_point) = queueing(table)?;
    for queues in [&mut mobile, &mut access_point] {
        aqm::tell_code_points(&mut queues.discipline, marks)?;
    }
    let retry_limit = attempts(table.retry_limit());
    let config = EdcaConfig {
        phy,
        station_modes: of_stations,
        rate_control,
        stations,
        categories: categories(table, marks)?,
        access: access(table.edca.get_or_insert_default(), phy.contention_window()),
        mobile_retry_limit: retry_limit,
        access_point_retry_limit: retry_limit,
        station_retry_limits: own_attempts(table.station_retry_limits.as_deref(), stations)?,
        ampdu: ampdu(table.aggregation.get_or_insert_default(), family)?,
        block_ack: block_ack(table.aggregation.get_or_insert_default(), family),
        protection,
        rts_threshold: table.rts_threshold(),
        collisions_are_energy: table.collision_heard() == CollisionHeard::Energy,
        answer_timeout: Some(Written::fill(&mut table.ack_timeout, &phy.answer_timeout())),
        overhead: Written::fill(&mut table.overhead, &QOS_OVERHEAD),
        mobile,
        access_point,
        damage: damage(&mut table.loss, table.outage)?,
        report_retries: false,
    };
    config.check().map_err(|error| {
        let key = match error {
            EdcaError::ContentionWindow(..) => key!(wlan.edca),
            EdcaError::Stations(_) => key!(wlan.stations),
            EdcaError::StationModes { .. } => key!(wlan.station_mcs),
            EdcaError::Mode(_) => key!(wlan.standard),
            EdcaError::NoModes => key!(wlan.rate_control),
            EdcaError::Categories => key!(wlan.categories),
            EdcaError::Window(_) => key!(wlan.aggregation.window),
        };
        Problem::at(key, error.to_string())
    })?;
    let air = match &mut table.radio {
        None => None,
        Some(table_of_radio) => {
            refuse_error_model(table.loss.as_ref())?;
            let carrier_mhz = phy.band().carrier_mhz();
            Some(radio::resolve(
                table_of_radio,
                key!(wlan.radio),
                carrier_mhz,
            )?)
        }
    };
    Ok(AggregatingWlan { config, air })
}

/// Keys of 802.11b, g and a.
fn refuse_legacy(table: &WlanTable) -> Result<(), Problem> {
    let with = |instead: &str| {
        format!("belongs to 802.11b, g and a; remove it, or choose one of them{instead}")
    };
    let modes = with(", or give wlan.mcs");
    refuse_keys!(table, key!(wlan), modes; rate);
    let is_legacy = |standard: &Standard| !standard.aggregates();
    let given = table.station_standard.as_ref();
    if !given.is_some_and(|standards| standards.iter().any(is_legacy)) {
        let instead = with(", or give wlan.station_mcs or wlan.station_standard");
        refuse_keys!(table, key!(wlan), instead; station_rates);
    }
    refuse_keys!(table, key!(wlan), with(""); basic_rate, preamble);
    refuse_keys!(table, key!(wlan), with(", or give wlan.retry_limit"); long_retry_limit);
    refuse_keys!(table, key!(wlan), with(""); fragmentation_threshold, hops);
    let windows = with(", or give wlan.edca.best_effort.cw_min and cw_max");
    refuse_keys!(table, key!(wlan), windows; cw_min, cw_max);
    Ok(())
}

/// Refuses keys of 802.11n, ac and ax.
pub(super) fn refuse_all(table: &WlanTable) -> Result<(), Problem> {
    const WHY: &str = "belongs to wlan.standard = \"802.11n\", \"802.11ac\" or \"802.11ax\"; \
                       remove it, or choose one of them";
    refuse_keys!(
        table, key!(wlan), WHY;
        station_standard, protection, rate_control, station_rate_control, band, mcs, station_mcs,
        channel_width, spatial_streams, station_streams, guard_interval, aggregation, categories, edca, aqm, driver_queue, airtime, collision_heard
    );
    Ok(())
}

/// The access category of each flow, in turn: as given, or by the code point of its packets.
fn categories(
    table: &mut WlanTable,
    marks: Option<&[CodePoint]>,
) -> Result<Vec<AccessCategory>, Problem> {
    let Some(marks) = marks else {
        let usual = || vec![AccessCategoryName::BestEffort];
        let names = table.categories.get_or_insert_with(usual).iter();
        return Ok(names.map(|&name| name.into()).collect());
    };
    let why = "flows.dscp chooses each flow's category; give one of them";
    refuse_keys!(table, key!(wlan), why; categories);
    if marks.is_empty() {
        let expected = "expected one at least, such as [\"CS0\", \"EF\"]";
        return Err(Problem::at(key!(flows.dscp), expected));
    }
    let category = |mark: &CodePoint| AccessCategory::of_dscp(mark.number());
    Ok(marks.iter().map(category).collect())
}

/// The queues of mobiles and of the access point.
fn queueing(table: &mut WlanTable) -> Result<(QueueingConfig, QueueingConfig), Problem> {
    let scheduler = table.scheduler();
    let most = match scheduler {
        StationScheduler::Fifo | StationScheduler::Qdisc => DEVICE_QUEUE,
        StationScheduler::RoundRobin | StationScheduler::Airtime => STATION_QUEUES,
    };
    let of_packets = |packets: u32| QueueTable {
        packets: Some(Packets::clamped(packets.into())),
        bytes: None,
    };
    let own = queue(table.queue.get_or_insert(of_packets(most)));
    let at_access_point = match &mut table.access_point_queue {
        Some(given) => queue(given),
        none => {
            *none = table.queue;
            own
        }
    };
    let discipline = discipline(table, scheduler)?;
    let belongs =
        |name: &str| format!("belongs to wlan.scheduler = {name:?}; remove it, or choose that");
    if scheduler != StationScheduler::Qdisc {
        refuse_keys!(table, key!(wlan), belongs("qdisc"); driver_queue);
    }
    if scheduler != StationScheduler::Airtime {
        refuse_keys!(table, key!(wlan), belongs("airtime"); airtime);
    }
    let scheme = match scheduler {
        StationScheduler::Fifo => Queueing::Fifo,
        StationScheduler::RoundRobin => Queueing::RoundRobin,
        StationScheduler::Qdisc => {
            let driver = table.driver_queue.get_or_insert(of_packets(DRIVER_QUEUE));
            Queueing::Qdisc(queue(driver))
        }
        StationScheduler::Airtime => {
            Queueing::Airtime(airtime(table.airtime.get_or_insert_default()))
        }
    };
    let with = |limit: QueueLimit| QueueingConfig {
        scheme,
        limit,
        discipline,
    };
    Ok((with(own), with(at_access_point)))
}

fn discipline(table: &mut WlanTable, scheduler: StationScheduler) -> Result<Discipline, Problem> {
    if scheduler == StationScheduler::Fifo {
        let why = "wlan.scheduler = \"fifo\" has no discipline; choose \"qdisc\", \"round-robin\" or \
                   \"airtime\"";
        refuse_keys!(table, key!(wlan), why; aqm);
        return Ok(Discipline::DropTail);
    }
    let aqm = table.aqm.get_or_insert_default();
    let name = *aqm.discipline.get_or_insert(DisciplineName::FqCodel);
    if matches!(name, DisciplineName::FqCodel | DisciplineName::Codel) {
        aqm.target.get_or_insert(Within::clamped(STATION_TARGET));
    }
    let why = "shapes in front of a link with a rate of its own; remove it, or give wired.aqm.rate";
    refuse_keys!(aqm, key!(wlan.aqm), why; rate);
    aqm::resolve(aqm, key!(wlan.aqm))
}

fn airtime(table: &mut AirtimeTable) -> AirtimeLimits {
    AirtimeLimits {
        low: table.limit_low(),
        high: table.limit_high(),
        threshold: table.threshold(),
        counts_received: table.counts_received(),
    }
}

fn ampdu(table: &mut AggregationTable, family: Family) -> Result<AmpduLimits, Problem> {
    let most: u32 = family.max_ampdu_bytes();
    let mpdus = table.frames() as u16;
    Ok(AmpduLimits {
        amsdu: amsdu(table, family, mpdus > 1)?,
        mpdus,
        bytes: Written::fill(&mut table.bytes, &most).min(most),
        time: table.time(),
    })
}

/// Maximum length of an A-MSDU in bytes (IEEE 802.11-2020 table 9-25; in an A-MPDU of HT an MPDU
/// has 4095 bytes at most, so that the shorter of its two limits holds).
fn amsdu(table: &mut AggregationTable, family: Family, in_ampdu: bool) -> Result<u32, Problem> {
    let given = table.amsdu();
    let most = match (family, in_ampdu) {
        (Family::Ht, true) => 3839,
        (Family::Ht, false) => 7935,
        _ => 11_454,
    };
    if given > most {
        return Err(Problem::at(
            key!(wlan.aggregation.amsdu),
            format!("expected at most {most} B with this standard and wlan.aggregation.frames"),
        ));
    }
    // With header and FCS no MPDU may exceed the family's maximum.
    Ok(given.min(11_454 - QOS_OVERHEAD))
}

fn block_ack(table: &mut AggregationTable, family: Family) -> BlockAckConfig {
    let window: u32 = if family == Family::He { 256 } else { 64 };
    BlockAckConfig {
        window: Written::fill(&mut table.window, &window) as u16,
        reorder_timeout: table.reorder_timeout(),
        requests: table.missed_block_ack() == MissedBlockAck::Request,
        hands_on_each: table.hand_on() == HandOn::Mpdu,
    }
}

fn access(table: &mut EdcaTable, windows: (u32, u32)) -> [AccessParameters; 4] {
    let tables = [
        &mut table.background,
        &mut table.best_effort,
        &mut table.video,
        &mut table.voice,
    ];
    let mut places = AccessCategory::ALL.into_iter();
    tables.map(|table| {
        let category = places.next().unwrap_or_default();
        let usual = AccessParameters::usual(category, windows);
        let CategoryTable {
            aifsn,
            cw_min,
            cw_max,
            txop_limit,
        } = table.get_or_insert_default();
        AccessParameters {
            aifsn: Written::fill(aifsn, &usual.aifsn),
            smallest_window: Written::fill(cw_min, &usual.smallest_window),
            largest_window: Written::fill(cw_max, &usual.largest_window),
            txop_limit: Written::fill(txop_limit, &usual.txop_limit),
        }
    })
}

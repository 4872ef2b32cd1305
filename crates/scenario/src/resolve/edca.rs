//! `[wlan]` with 802.11n, ac or ax: aggregation, access categories, queues for stations.

use airtcp_link::mac::edca::{
    AccessCategory, AccessParameters, AmpduLimits, BlockAckConfig, EdcaConfig, EdcaError,
    QOS_OVERHEAD, Queueing, QueueingConfig,
};
use airtcp_link::phy::Family;
use airtcp_link::scheduler::airtime::AirtimeLimits;

use super::damage::{attempts, damage, own_attempts, refuse_error_model};
use super::modes::{self, Modes};
use super::queue::queue;
use super::{aqm, radio};
use crate::document::{
    AggregationTable, AirtimeTable, EdcaTable, QueueTable, StationSchedulers, WlanTable,
};
use crate::error::Problem;
use crate::medium::edca::AggregatingWlan;
use crate::names::{CodePoint, CollisionHeard, HandOn, MissedBlockAck, Standard};
use airtcp_units::written::read;

/// The keys of a channel of 802.11n, ac or ax.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregating {
    pub aggregation: AggregationTable,
    pub edca: EdcaTable,
    pub collision_heard: CollisionHeard,
    pub overhead: u32,
}

/// Resolves the channel for that many flows.
pub(super) fn resolve(
    table: &WlanTable,
    own: Aggregating,
    flows: u32,
    marks: Option<&[CodePoint]>,
) -> Result<AggregatingWlan, Problem> {
    refuse_station_rates(table)?;
    let Modes {
        phy,
        of_stations,
        rate_control,
        protection,
    } = modes::resolve(table, table.standard())?;
    let family = phy.standard().family();
    let stations = read(&table.stations, &flows);
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
        access: access(&own.edca, phy.contention_window()),
        mobile_retry_limit: retry_limit,
        access_point_retry_limit: retry_limit,
        station_retry_limits: own_attempts(table.station_retry_limits.as_deref(), stations)?,
        ampdu: ampdu(&own.aggregation, family)?,
        block_ack: block_ack(&own.aggregation, family),
        protection,
        rts_threshold: table.rts_threshold(),
        collisions_are_energy: own.collision_heard == CollisionHeard::Energy,
        answer_timeout: Some(read(&table.ack_timeout, &phy.answer_timeout())),
        overhead: own.overhead,
        mobile,
        access_point,
        damage: damage(table.loss, table.outage)?,
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
    let air = match &table.radio {
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

/// Stations of 802.11b, g and a have rates.
fn refuse_station_rates(table: &WlanTable) -> Result<(), Problem> {
    let is_legacy = |standard: &Standard| !standard.aggregates();
    let given = table.station_standard.as_ref();
    if !given.is_some_and(|standards| standards.iter().any(is_legacy)) {
        let instead = "belongs to 802.11b, g and a; remove it, or choose one of them, or give \
                       wlan.station_mcs or wlan.station_standard";
        refuse_keys!(table, key!(wlan), instead; station_rates);
    }
    Ok(())
}

/// The access category of each flow, in turn: as given, or by the code point of its packets.
fn categories(
    table: &WlanTable,
    marks: Option<&[CodePoint]>,
) -> Result<Vec<AccessCategory>, Problem> {
    let Some(marks) = marks else {
        let names = table.categories.iter().flatten();
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
fn queueing(table: &WlanTable) -> Result<(QueueingConfig, QueueingConfig), Problem> {
    let (scheme, aqm) = match StationSchedulers::of(table, key!(wlan))? {
        StationSchedulers::Fifo { .. } => (Queueing::Fifo, None),
        StationSchedulers::RoundRobin { aqm, .. } => (Queueing::RoundRobin, Some(aqm)),
        StationSchedulers::Qdisc {
            aqm, driver_queue, ..
        } => (Queueing::Qdisc(queue(driver_queue)), Some(aqm)),
        StationSchedulers::Airtime { aqm, airtime, .. } => {
            (Queueing::Airtime(self::airtime(&airtime)), Some(aqm))
        }
    };
    let discipline = aqm::or_drop_tail(aqm.as_ref(), key!(wlan.aqm))?;
    let with = |limit: QueueTable| QueueingConfig {
        scheme,
        limit: queue(limit),
        discipline,
    };
    let own = table.queue.unwrap_or_default();
    let at_access_point = table.access_point_queue.unwrap_or(own);
    Ok((with(own), with(at_access_point)))
}

fn airtime(table: &AirtimeTable) -> AirtimeLimits {
    AirtimeLimits {
        low: table.limit_low(),
        high: table.limit_high(),
        threshold: table.threshold(),
        counts_received: table.counts_received(),
    }
}

fn ampdu(table: &AggregationTable, family: Family) -> Result<AmpduLimits, Problem> {
    let most: u32 = family.max_ampdu_bytes();
    let mpdus = table.frames() as u16;
    Ok(AmpduLimits {
        amsdu: amsdu(table, family, mpdus > 1)?,
        mpdus,
        bytes: read(&table.bytes, &most).min(most),
        time: table.time(),
    })
}

/// Maximum length of an A-MSDU in bytes (IEEE 802.11-2020 table 9-25; in an A-MPDU of HT an MPDU
/// has 4095 bytes at most, so that the shorter of its two limits holds).
fn amsdu(table: &AggregationTable, family: Family, in_ampdu: bool) -> Result<u32, Problem> {
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

/// Frames that a block ACK of the family can cover.
pub(crate) const fn block_ack_window(family: Family) -> u32 {
    match family {
        Family::He => 256,
        _ => 64,
    }
}

fn block_ack(table: &AggregationTable, family: Family) -> BlockAckConfig {
    BlockAckConfig {
        window: read(&table.window, &block_ack_window(family)) as u16,
        reorder_timeout: table.reorder_timeout(),
        requests: table.missed_block_ack() == MissedBlockAck::Request,
        hands_on_each: table.hand_on() == HandOn::Mpdu,
    }
}

fn access(table: &EdcaTable, windows: (u32, u32)) -> [AccessParameters; 4] {
    let tables = [
        table.background,
        table.best_effort,
        table.video,
        table.voice,
    ];
    let mut places = AccessCategory::ALL.into_iter();
    tables.map(|table| {
        let category = places.next().unwrap_or_default();
        let usual = AccessParameters::usual(category, windows);
        let table = table.unwrap_or_default();
        AccessParameters {
            aifsn: read(&table.aifsn, &usual.aifsn),
            smallest_window: read(&table.cw_min, &usual.smallest_window),
            largest_window: read(&table.cw_max, &usual.largest_window),
            txop_limit: read(&table.txop_limit, &usual.txop_limit),
        }
    })
}

//! `[wlan]`: an IEEE 802.11 channel.

use airtcp_link::mac::dcf::{BssConfig, BssError, StationConfig};
use airtcp_link::phy::{Mode, Phy, PhyError, Preamble, Standard};
use airtcp_link::scheduler::RetransmissionOrder;

use super::damage::{attempts, damage, own_attempts, refuse_error_model};
use super::queue::queue;
use super::radio;
use crate::document::WlanTable;
use crate::error::Problem;
use crate::medium::Wlan;
use crate::names::StationScheduler;
use airtcp_units::bounded::Rate;
use airtcp_units::written::read;

/// The keys of a channel of 802.11b, g or a.
#[derive(Clone, Copy, Debug)]
pub(super) struct Legacy {
    pub hops: u32,
    pub long_retry_limit: Option<u32>,
    pub fragmentation_threshold: Option<u32>,
    pub overhead: u32,
}

/// Resolves the channel for that many flows.
pub(super) fn resolve(table: &WlanTable, own: Legacy, flows: u32) -> Result<Wlan, Problem> {
    let order = order(table)?;
    let (phy, station_modes) = rates(table)?;
    let hops = hops(table, own.hops)?;
    let mobiles = read(&table.stations, &flows);
    let mobile_queue = queue(table.queue());
    let access_point_queue = queue(table.access_point_queue.unwrap_or_default());
    let short_retry_limit = attempts(table.retry_limit());
    let long_retry_limit = attempts(own.long_retry_limit);
    let station = |queue, order| StationConfig {
        queue,
        order,
        short_retry_limit,
        long_retry_limit,
    };
    let (smallest, largest) = phy.contention_window();
    let bss = BssConfig {
        phy,
        station_modes,
        stations: mobiles + hops - 1,
        mobile: station(mobile_queue, RetransmissionOrder::HeadOfLine),
        access_point: station(access_point_queue, order),
        station_retry_limits: own_attempts(table.station_retry_limits.as_deref(), mobiles)?,
        rts_threshold: table.rts_threshold(),
        fragmentation_threshold: own.fragmentation_threshold,
        contention_window: Some((
            read(&table.cw_min, &smallest),
            read(&table.cw_max, &largest),
        )),
        answer_timeout: Some(read(&table.ack_timeout, &phy.answer_timeout())),
        overhead: own.overhead,
        damage: damage(table.loss, table.outage)?,
        report_retries: false,
    };
    bss.check().map_err(|error| {
        let key = match error {
            BssError::ContentionWindow(window) if window == largest_of(&bss) => key!(wlan.cw_max),
            BssError::ContentionWindow(_) | BssError::ContentionWindows(..) => key!(wlan.cw_min),
            BssError::Stations(_) => key!(wlan.stations),
            BssError::Fragmentation(_) => key!(wlan.fragmentation_threshold),
            BssError::StationRates { .. } => key!(wlan.station_rates),
        };
        Problem::at(key, error.to_string())
    })?;
    let air = match &table.radio {
        None => None,
        Some(radio) => {
            refuse_error_model(table.loss.as_ref())?;
            let carrier_mhz = bss.phy.standard().carrier_mhz();
            Some(radio::resolve(radio, key!(wlan.radio), carrier_mhz)?)
        }
    };
    Ok(Wlan { bss, air, hops })
}

/// The hops of a chain. Keys of single mobiles would hold for its relays too.
fn hops(table: &WlanTable, hops: u32) -> Result<u32, Problem> {
    if hops > 1 {
        let why = "belongs to mobiles that reach the access point in one hop; remove it, or give \
                   wlan.hops = 1";
        refuse_keys!(table, key!(wlan), why; station_rates, station_retry_limits, radio);
    }
    Ok(hops)
}

/// The order of service at the access point: one queue, unless stations take turns.
fn order(table: &WlanTable) -> Result<RetransmissionOrder, Problem> {
    match table.scheduler {
        None => Ok(RetransmissionOrder::HeadOfLine),
        Some(StationScheduler::RoundRobin) => Ok(RetransmissionOrder::ByStation),
        Some(_) => Err(Problem::at(
            key!(wlan.scheduler),
            "belongs to wlan.standard = \"802.11n\", \"802.11ac\" or \"802.11ax\"; remove it, \
             choose one of them, or give \"round-robin\"",
        )),
    }
}

fn largest_of(bss: &BssConfig) -> u32 {
    bss.contention_window.map_or(0, |(_, largest)| largest)
}

/// The physical layer, and the modes of the mobiles where they differ.
pub(crate) fn rates(table: &WlanTable) -> Result<(Phy, Vec<Mode>), Problem> {
    const KEY: &str = key!(wlan.station_rates);
    let Some(given) = &table.station_rates else {
        return Ok((phy(table)?, Vec::new()));
    };
    let why = "wlan.station_rates says at which rate each mobile sends; give one of them";
    refuse_keys!(table, key!(wlan), why; rate);
    if given.is_empty() {
        let example = "expected at least one rate, such as [\"11 Mbit/s\", \"1 Mbit/s\"]";
        return Err(Problem::at(KEY, example));
    }
    // The fastest rate and the other keys are checked as usual.
    let phy = phy(table).map_err(|problem| problem.moved(key!(wlan.rate), KEY))?;
    let mode = |(place, rate): (usize, &Rate)| {
        let problem = |error: PhyError| Problem::at(format!("{KEY}[{place}]"), error.to_string());
        phy.with_data_rate(rate.get())
            .map(|phy| phy.data_mode())
            .map_err(problem)
    };
    let modes: Result<Vec<_>, _> = given.iter().enumerate().map(mode).collect();
    Ok((phy, modes?))
}

fn phy(table: &WlanTable) -> Result<Phy, Problem> {
    let standard: Standard = table.standard().into();
    let (data, control) = table.legacy_rates();
    let preamble: Preamble = table.preamble.unwrap_or_default().into();
    Phy::new(standard, preamble, data, control).map_err(|error| {
        let key = match error {
            PhyError::Rate { rate, .. } if rate == data => key!(wlan.rate),
            PhyError::Rate { .. } | PhyError::Control { .. } => key!(wlan.basic_rate),
            PhyError::Preamble(_) => key!(wlan.preamble),
            PhyError::Mode { .. } | PhyError::Band { .. } => key!(wlan.standard),
        };
        Problem::at(key, error.to_string())
    })
}

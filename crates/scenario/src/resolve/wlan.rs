//! `[wlan]`: an IEEE 802.11 channel.

use airtcp_link::mac::dcf::{BssConfig, BssError, LLC_BYTES, MAC_BYTES, StationConfig};
use airtcp_link::phy::{Mode, Phy, PhyError, Preamble, Standard};
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_units::BitRate;

use super::damage::{attempts, damage, own_attempts, refuse_error_model};
use super::queue::queue;
use super::{edca, radio};
use crate::document::WlanTable;
use crate::error::Problem;
use crate::medium::Wlan;
use crate::names::StationScheduler;
use airtcp_units::bounded::Within;
use airtcp_units::written::Written;

/// Resolves the channel for that many flows.
pub(super) fn resolve(table: &mut WlanTable, flows: u32) -> Result<Wlan, Problem> {
    edca::refuse_all(table)?;
    let order = order(table)?;
    let (phy, station_modes) = rates(table)?;
    let hops = hops(table)?;
    let mobiles = Written::fill(&mut table.stations, &flows);
    let mobile_queue = queue(table.queue.get_or_insert_default());
    let access_point_queue = match &mut table.access_point_queue {
        Some(given) => queue(given),
        none => {
            *none = table.queue;
            mobile_queue
        }
    };
    let short_retry_limit = attempts(table.retry_limit());
    let long_retry_limit = attempts(table.long_retry_limit());
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
        fragmentation_threshold: table.fragmentation_threshold(),
        contention_window: Some((
            Written::fill(&mut table.cw_min, &smallest),
            Written::fill(&mut table.cw_max, &largest),
        )),
        answer_timeout: Some(Written::fill(&mut table.ack_timeout, &phy.answer_timeout())),
        overhead: Written::fill(&mut table.overhead, &(MAC_BYTES + LLC_BYTES)),
        damage: damage(&mut table.loss, table.outage)?,
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
    let air = match &mut table.radio {
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
fn hops(table: &mut WlanTable) -> Result<u32, Problem> {
    let hops = table.hops();
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
fn rates(table: &mut WlanTable) -> Result<(Phy, Vec<Mode>), Problem> {
    const KEY: &str = key!(wlan.station_rates);
    let Some(given) = table.station_rates.clone() else {
        return Ok((phy(table)?, Vec::new()));
    };
    let why = "wlan.station_rates says at which rate each mobile sends; give one of them";
    refuse_keys!(table, key!(wlan), why; rate);
    let rates: Vec<_> = given.into_iter().map(Within::get).collect();
    if rates.is_empty() {
        let example = "expected at least one rate, such as [\"11 Mbit/s\", \"1 Mbit/s\"]";
        return Err(Problem::at(KEY, example));
    }
    // With the fastest rate in place, the other keys are checked as usual.
    table.rate = rates.iter().max().map(|rate| Within::clamped(*rate));
    let phy = phy(table).map_err(|problem| problem.moved(key!(wlan.rate), KEY))?;
    table.rate = None;
    let mode = |(place, rate): (usize, &BitRate)| {
        let problem = |error: PhyError| Problem::at(format!("{KEY}[{place}]"), error.to_string());
        phy.with_data_rate(*rate)
            .map(|phy| phy.data_mode())
            .map_err(problem)
    };
    let modes: Result<Vec<_>, _> = rates.iter().enumerate().map(mode).collect();
    Ok((phy, modes?))
}

fn phy(table: &mut WlanTable) -> Result<Phy, Problem> {
    let standard: Standard = table.standard().into();
    let (fastest, basic) = standard.usual_rates();
    let data = Written::fill(&mut table.rate, &fastest);
    let control = Written::fill(&mut table.basic_rate, &basic.min(data));
    let preamble: Preamble = table.preamble().into();
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

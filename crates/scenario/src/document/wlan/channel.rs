//! The alternatives of `[wlan]`: by the family of its standard, and by the scheduler of stations.

use airtcp_link::mac::dcf::{LLC_BYTES, MAC_BYTES};
use airtcp_link::mac::edca::QOS_OVERHEAD;
use airtcp_link::phy;

use super::{AggregationTable, AirtimeTable, ContentionWindow, EdcaTable, Mcs, Streams, WlanTable};
use crate::document::keys::{Rule, below};
use crate::document::{AqmTable, LossTable, QueueTable};
use crate::error::Problem;
use crate::medium::edca::{DRIVER_QUEUE, STATION_QUEUES, STATION_TARGET};
use crate::names::{
    AccessCategoryName, BandName, ChannelWidth, CollisionHeard, DisciplineName, GuardIntervalName,
    Preamble, ProtectionName, RateControlName, Standard, StationScheduler,
};
use airtcp_units::BitRate;
use airtcp_units::bounded::Rate;
use airtcp_units::written::{completed, read};

alternatives! {
    /// The channel by the family of its standard.
    #[expect(clippy::large_enum_variant, reason = "a scenario has one")]
    pub enum Channels of WlanTable by standard: Standard, with table {
        /// Frames one by one (IEEE 802.11-2016 §C.3).
        Legacy: B | G | A
            takes {
                preamble: Preamble = Preamble::default(),
                hops: u32 = 1,
                long_retry_limit: Option<u32> = Some(4),
                fragmentation_threshold: Option<u32> = None,
                overhead: u32 = MAC_BYTES + LLC_BYTES,
            }
            allows {
                rate: Rate,
                basic_rate: Rate,
                station_rates: Vec<Rate>,
                cw_min: ContentionWindow,
                cw_max: ContentionWindow,
            };
        /// Frames that are aggregated.
        Aggregating: N | Ac | Ax
            takes {
                protection: ProtectionName = table.usual_protection(),
                band: BandName = BandName::Ghz5,
                channel_width: ChannelWidth = table.usual_width(),
                guard_interval: GuardIntervalName = GuardIntervalName::Ns800,
                aggregation: AggregationTable = AggregationTable::default(),
                edca: EdcaTable = EdcaTable::default(),
                collision_heard: CollisionHeard = CollisionHeard::default(),
                overhead: u32 = QOS_OVERHEAD,
            }
            allows {
                station_standard: Vec<Standard>,
                rate_control: RateControlName,
                station_rate_control: Vec<RateControlName>,
                mcs: Mcs,
                station_mcs: Vec<Mcs>,
                spatial_streams: Streams,
                station_streams: Vec<Streams>,
                categories: Vec<AccessCategoryName>,
                aqm: AqmTable,
                driver_queue: QueueTable,
                airtime: AirtimeTable,
                station_rates: Vec<Rate>,
            };
    }
    instead {
        rate: "wlan.mcs",
        long_retry_limit: "wlan.retry_limit",
        cw_min: "wlan.edca.best_effort.cw_min and cw_max",
        cw_max: "wlan.edca.best_effort.cw_min and cw_max",
    }
}

alternatives! {
    /// The schedulers of stations that aggregate frames.
    #[derive(Copy)]
    pub enum Schedulers of WlanTable by scheduler: StationScheduler,
        only WlanTable::aggregates, with table
    {
        /// The device's queue.
        Fifo: Fifo takes { queue: QueueTable = of_packets(DEVICE_QUEUE) };
        /// A discipline before the driver's queue.
        Qdisc: Qdisc takes {
            queue: QueueTable = of_packets(DEVICE_QUEUE),
            aqm: AqmTable = table.station_aqm(),
            driver_queue: QueueTable = of_packets(DRIVER_QUEUE.into()),
        };
        /// Stations in turn.
        RoundRobin: RoundRobin takes {
            queue: QueueTable = of_packets(STATION_QUEUES.into()),
            aqm: AqmTable = table.station_aqm(),
        };
        /// Stations by their airtime.
        Airtime: Airtime takes {
            queue: QueueTable = of_packets(STATION_QUEUES.into()),
            aqm: AqmTable = table.station_aqm(),
            airtime: AirtimeTable = AirtimeTable::default(),
        };
    }
}

/// Packets that may wait in a device's queue (Linux, `txqueuelen`).
const DEVICE_QUEUE: u64 = 1_000;

fn of_packets(packets: u64) -> QueueTable {
    QueueTable::default().or_packets(packets)
}

impl WlanTable {
    fn aggregates(&self) -> bool {
        self.standard().aggregates()
    }

    /// The scheduler of stations that aggregate frames.
    pub fn scheduler(&self) -> StationScheduler {
        self.scheduler.unwrap_or_default()
    }

    /// Whether frames are announced to older stations: 802.11b does not understand any other.
    fn usual_protection(&self) -> ProtectionName {
        let standards = self.station_standard.as_deref().unwrap_or_default();
        if standards.contains(&Standard::B) {
            ProtectionName::CtsToSelf
        } else {
            ProtectionName::None
        }
    }

    /// A laptop's usual link has 20 MHz, and from 802.11ac on 80 MHz.
    fn usual_width(&self) -> ChannelWidth {
        match self.standard() {
            Standard::Ac | Standard::Ax => ChannelWidth::Mhz80,
            _ => ChannelWidth::Mhz20,
        }
    }

    /// The discipline of stations' queues, with CoDel's target for Wi-Fi.
    fn station_aqm(&self) -> AqmTable {
        let aqm = self.aqm.unwrap_or_default();
        match aqm.discipline() {
            DisciplineName::FqCodel | DisciplineName::Codel => AqmTable {
                target: completed(&aqm.target, &STATION_TARGET),
                ..aqm
            },
            _ => aqm,
        }
    }

    /// How the modes of each mobile's frames are chosen, in turn.
    pub fn controls(&self) -> Vec<RateControlName> {
        match &self.station_rate_control {
            Some(given) => given.clone(),
            None => vec![self.rate_control.unwrap_or_default()],
        }
    }

    /// The fastest rate of data frames, and the rate of control frames, of 802.11b, g and a.
    pub fn legacy_rates(&self) -> (BitRate, BitRate) {
        let (fastest, basic) = phy::Standard::from(self.standard()).usual_rates();
        let given = self.station_rates.iter().flatten().chain(&self.rate);
        let data = given.map(|rate| rate.get()).max().unwrap_or(fastest);
        (data, read(&self.basic_rate, &basic.min(data)))
    }
}

/// A key for all mobiles has a default if the list for each is left out.
pub struct Rates;

impl Rule<WlanTable> for Rates {
    fn completed(table: &WlanTable) -> WlanTable {
        if !table.aggregates() {
            let (data, basic) = table.legacy_rates();
            return WlanTable {
                rate: match table.station_rates {
                    None => completed(&table.rate, &data),
                    Some(_) => table.rate,
                },
                basic_rate: completed(&table.basic_rate, &basic),
                ..table.clone()
            };
        }
        let is_fixed = table.controls().contains(&RateControlName::Fixed);
        WlanTable {
            rate_control: match table.station_rate_control {
                None => completed(&table.rate_control, &RateControlName::default()),
                Some(_) => table.rate_control,
            },
            mcs: match table.station_mcs {
                None if is_fixed => completed(&table.mcs, &USUAL_MCS),
                _ => table.mcs,
            },
            spatial_streams: match table.station_streams {
                None => completed(&table.spatial_streams, &USUAL_STREAMS),
                Some(_) => table.spatial_streams,
            },
            ..table.clone()
        }
    }
}

const USUAL_MCS: u32 = 7;
/// A laptop's usual link.
const USUAL_STREAMS: u32 = 2;

/// What mobiles and the access point have alike.
pub struct Stations;

impl Rule<WlanTable> for Stations {
    fn completed(table: &WlanTable) -> WlanTable {
        let queue = table.queue.unwrap_or_default();
        let loss = table.loss.unwrap_or_default().with_direction();
        let has_discipline = table.aggregates() && table.scheduler() != StationScheduler::Fifo;
        WlanTable {
            queue: Some(queue),
            access_point_queue: table.access_point_queue.or(Some(queue)),
            aqm: match table.aqm {
                Some(_) if has_discipline => Some(table.station_aqm()),
                given => given,
            },
            loss: Some(LossTable {
                counted: Some(loss.counted()),
                ..loss
            }),
            ..table.clone()
        }
    }

    fn check(table: &WlanTable, path: &str) -> Result<(), Problem> {
        if let (true, Some(aqm)) = (table.aggregates(), &table.aqm) {
            let why = "shapes in front of a link with a rate of its own; remove it, or give \
                       wired.aqm.rate";
            refuse_keys!(aqm, below(path, "aqm"), why; rate);
        }
        Ok(())
    }
}

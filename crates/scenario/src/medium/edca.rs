//! An IEEE 802.11 channel of 802.11n, ac or ax.

use airtcp_link::mac::damage::{Outage, RadioDamage};
use airtcp_link::mac::edca::{AccessCategory, EdcaConfig, Queueing};
use airtcp_link::mac::own_retry_limits::OwnRetryLimits;
use airtcp_link::{Discipline, FqCoDelConfig, QueueLimit, Stream};
use airtcp_network::MediumKind;
use airtcp_remedies::{MediumChange, SentBy};
use airtcp_units::Duration;

use super::{Air, WirelessMedium, own_limits, radios};

/// Length of a driver's queue below a discipline, in packets.
pub(crate) const DRIVER_QUEUE: u32 = 128;
/// Total limit of the stations' queues, in packets (Linux, include/net/fq_impl.h).
pub(crate) const STATION_QUEUES: u32 = 8_192;
/// CoDel's target for Wi-Fi (Linux, net/mac80211/sta_info.c).
pub(crate) const STATION_TARGET: Duration = Duration::from_millis(20);

/// The discipline of each station's queue in mac80211.
fn station_discipline() -> Discipline {
    let mut config = FqCoDelConfig::default();
    config.codel.target = STATION_TARGET;
    Discipline::FqCoDel(config)
}

/// An IEEE 802.11 channel on which frames are aggregated.
#[derive(Clone, Debug)]
pub struct AggregatingWlan {
    /// Its configuration, except for parts that depend on the mobiles' places.
    pub config: EdcaConfig,
    /// Where the mobiles are, if that matters.
    pub air: Option<Air>,
}

impl WirelessMedium for AggregatingWlan {
    fn boxed(&self) -> Box<dyn WirelessMedium> {
        Box::new(self.clone())
    }

    fn name(&self) -> &'static str {
        "wlan"
    }

    fn kind(&self, name: &str, seed: u64, report_retries: bool) -> MediumKind {
        let mut config = self.config.clone();
        config.report_retries = report_retries;
        if let Some(air) = &self.air {
            config.damage.radio = Some(RadioDamage {
                radios: radios(air, config.stations, Stream::new(seed, name)),
                // Each frame carries its own mode.
                data: Vec::new(),
                control: config.phy.control_mode(),
            });
        }
        MediumKind::Edca(Box::new(config))
    }

    fn stations(&self) -> u32 {
        self.config.stations
    }

    fn outages(&self) -> Vec<Outage> {
        self.config.damage.outage.into_iter().collect()
    }

    fn change(&mut self, change: MediumChange) -> bool {
        let config = &mut self.config;
        match change {
            MediumChange::Queue(packets) => {
                config.mobile.limit = QueueLimit::Packets(packets);
                config.access_point.limit = config.mobile.limit;
            }
            // In front of the driver's queue, or in place of the discipline of each queue.
            MediumChange::Discipline(discipline) => {
                for queues in [&mut config.mobile, &mut config.access_point] {
                    if queues.scheme == Queueing::Fifo {
                        queues.scheme = Queueing::Qdisc(QueueLimit::Packets(DRIVER_QUEUE));
                    }
                    queues.discipline = discipline;
                }
            }
            MediumChange::StationQueueing(queueing) => {
                let queues = &mut config.access_point;
                if matches!(queues.scheme, Queueing::Fifo | Queueing::Qdisc(_)) {
                    queues.limit = QueueLimit::Packets(STATION_QUEUES);
                    queues.discipline = station_discipline();
                }
                queues.scheme = queueing;
            }
            // Both limits: the higher one holds while little waits for all together.
            MediumChange::AirtimeLimit(limit) => {
                let Queueing::Airtime(limits) = &mut config.access_point.scheme else {
                    return false;
                };
                (limits.low, limits.high) = (limit, limit);
            }
            MediumChange::AggregateTime(time) => config.ampdu.time = config.ampdu.time.min(time),
            MediumChange::BurstTime(time) => {
                for (parameters, category) in config.access.iter_mut().zip(AccessCategory::ALL) {
                    if category == AccessCategory::BestEffort {
                        parameters.txop_limit = time;
                    }
                }
            }
            MediumChange::MobileAttempts(limit) => {
                config.mobile_retry_limit = limit;
                *own_limits(&mut config.station_retry_limits, SentBy::Mobile) =
                    OwnRetryLimits::default();
            }
            MediumChange::AccessPointAttempts(limit) => {
                config.access_point_retry_limit = limit;
                *own_limits(&mut config.station_retry_limits, SentBy::AccessPoint) =
                    OwnRetryLimits::default();
            }
            MediumChange::StationAttempts {
                mobile,
                sent_by,
                limit,
            } => {
                let own = own_limits(&mut config.station_retry_limits, sent_by);
                return own.set(mobile, config.stations, limit);
            }
            MediumChange::Order(_) | MediumChange::Fec(_) => return false,
        }
        true
    }
}

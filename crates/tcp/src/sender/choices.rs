//! The part of [`Config`] that the send side reads while it runs.

use airtcp_units::Duration;

use crate::config::{
    Config, LateReports, PartialAckTimer, Recovery, Reduction, ReductionBase, Reneging,
    ReportedRtt, Retransmission, RttSampling, SpuriousDetection, SpuriousResponse, TimerRestart,
    TimerScope,
};

/// Read and never written; what a part alone needs is that part's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    pub sack: bool,
    pub recovery: Recovery,
    pub limited_transmit: bool,
    pub retransmission: Retransmission,
    pub scope: TimerScope,
    pub sampling: RttSampling,
    pub timestamp_tick: Duration,
    pub reduction: Reduction,
    pub reduction_base: ReductionBase,
    pub partial_ack_timer: PartialAckTimer,
    pub timer_restart: TimerRestart,
    pub reported_rtt: ReportedRtt,
    pub late_reports: LateReports,
    pub reneging: Reneging,
    pub spurious_detection: SpuriousDetection,
    pub spurious_response: SpuriousResponse,
}

impl Choices {
    pub fn new(config: &Config) -> Self {
        Self {
            sack: config.sack,
            recovery: config.recovery,
            limited_transmit: config.limited_transmit,
            retransmission: config.retransmission,
            scope: config.timeout.timers.scope(config.retransmission),
            sampling: match config.timeout.sampling {
                RttSampling::ByTimestamps if config.timestamps => RttSampling::PerAcknowledgment,
                RttSampling::ByTimestamps => RttSampling::PerWindow,
                other => other,
            },
            timestamp_tick: config.timestamp_tick,
            reduction: config.reduction,
            reduction_base: config.reduction_base,
            partial_ack_timer: config.partial_ack_timer,
            timer_restart: config.timer_restart,
            reported_rtt: config.reported_rtt,
            late_reports: config.late_reports,
            reneging: config.reneging,
            spurious_detection: config.spurious_detection,
            spurious_response: config.spurious_response,
        }
    }
}

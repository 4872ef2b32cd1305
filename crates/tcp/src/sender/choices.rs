//! The part of [`Config`] that the send side reads while it runs.

use crate::config::{
    Config, DuplicateReports, LateReports, PartialAckTimer, Push, Recovery, Reduction,
    ReductionBase, Reneging, ReportedRtt, Retransmission, RttSampling, ShortTrains,
    SpuriousDetection, SpuriousResponse, TimerRestart, TimerScope, WindowReopening,
};

/// Read and never written; settings that only one part needs belong to that part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    pub sack: bool,
    pub recovery: Recovery,
    pub limited_transmit: bool,
    pub retransmission: Retransmission,
    pub scope: TimerScope,
    pub sampling: RttSampling,
    pub reduction: Reduction,
    pub reduction_base: ReductionBase,
    pub partial_ack_timer: PartialAckTimer,
    pub timer_restart: TimerRestart,
    pub reported_rtt: ReportedRtt,
    pub late_reports: LateReports,
    pub duplicate_reports: DuplicateReports,
    pub reneging: Reneging,
    pub push: Push,
    pub short_trains: ShortTrains,
    pub window_reopening: WindowReopening,
    pub spurious_detection: SpuriousDetection,
    pub spurious_response: SpuriousResponse,
}

impl Choices {
    pub fn new(config: &Config) -> Self {
        let by_time = config.sack && config.loss_detection.is_by_time();
        let scope = config.timeout.scope.unwrap_or(match config.retransmission {
            Retransmission::GoBackN | Retransmission::Probe => TimerScope::Connection,
            Retransmission::SelectiveRepeat => TimerScope::Segment,
        });
        Self {
            sack: config.sack,
            recovery: match config.recovery {
                Recovery::RecoveryPeriod if !by_time => Recovery::NewReno,
                recovery => recovery,
            },
            limited_transmit: config.limited_transmit,
            retransmission: match config.retransmission {
                Retransmission::Probe if !by_time || scope == TimerScope::Segment => {
                    Retransmission::GoBackN
                }
                retransmission => retransmission,
            },
            scope,
            sampling: match config.timeout.sampling {
                RttSampling::ByTimestamps if config.timestamps => RttSampling::PerAcknowledgment,
                // Without timestamps there is no echo, and yet the round trip must be known (RFC
                // 6298 §3).
                RttSampling::ByTimestamps => RttSampling::PerWindow,
                RttSampling::EchoedTimestamp if !config.timestamps => RttSampling::PerWindow,
                other => other,
            },
            reduction: config.reduction,
            reduction_base: config.reduction_base,
            partial_ack_timer: config.quirks.partial_ack_timer,
            timer_restart: config.quirks.timer_restart,
            reported_rtt: config.quirks.reported_rtt,
            late_reports: config.quirks.late_reports,
            duplicate_reports: config.quirks.duplicate_reports,
            reneging: config.quirks.reneging,
            push: config.quirks.push,
            short_trains: config.quirks.short_trains,
            window_reopening: config.quirks.window_reopening,
            spurious_detection: config.spurious_detection,
            spurious_response: config.spurious_response,
        }
    }
}

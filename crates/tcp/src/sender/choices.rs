//! The part of [`Config`] that the send side reads while it runs.

use airtcp_units::Duration;

use crate::config::{
    Config, Recovery, Reduction, ReductionBase, Retransmission, RttSampling, SpuriousDetection,
    SpuriousResponse, TimerScope, WindowValidation,
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
    pub window_validation: WindowValidation,
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
            scope: config.timeout.scope.unwrap_or(match config.retransmission {
                Retransmission::GoBackN => TimerScope::Connection,
                Retransmission::SelectiveRepeat => TimerScope::Segment,
            }),
            sampling: config.timeout.sampling,
            timestamp_tick: config.timestamp_tick,
            reduction: config.reduction,
            reduction_base: config.reduction_base,
            window_validation: config.window_validation,
            spurious_detection: config.spurious_detection,
            spurious_response: config.spurious_response,
        }
    }
}

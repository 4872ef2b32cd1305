//! A timer for each segment under go-back-N, which few mean: it is Miyim's trace-N-retransmit.

use airtcp_tcp::config::{Retransmission, TimerScope};

use crate::Scenario;

impl Scenario {
    /// A warning about a timer for each segment that resends all outstanding data (Miyim §IV).
    pub(crate) fn segment_timer(&self) -> Option<String> {
        // Whoever asks for the remedy `go-back-n` means it.
        let tcp = &self.untreated.tcp;
        let is_traced = tcp.timeout.scope == Some(TimerScope::Segment)
            && tcp.retransmission == Retransmission::GoBackN;
        is_traced.then(|| {
            "tcp.timer = \"segment\": under tcp.retransmission = \"go-back-n\" the timer of one \
             segment resends everything outstanding, which is Miyim's trace-N-retransmit; with \
             \"selective-repeat\" it resends only that segment"
                .to_owned()
        })
    }
}

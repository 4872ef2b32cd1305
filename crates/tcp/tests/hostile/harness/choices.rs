//! Configurations: a profile, possibly with a few of its choices changed, each to any of its
//! values.

use airtcp_tcp::config::{
    CongestionControl, DelayedAckConfig, DeviationFrom, DuplicateCounting, DynamicThreshold,
    EcnUse, GapCount, GrowthCredit, LateReports, LinkFeedbackConfig, LossDetection,
    PartialAckTimer, ReceiveWindow, Recovery, Reduction, ReductionBase, Reneging, ReportedRtt,
    Retransmission, RttClustering, RttEstimation, RttSampling, SlowStart, SpuriousDetection,
    SpuriousResponse, ThresholdCap, TimeoutConfig, TimerRestart, TimerScope, WindowGrowth,
    WindowReopening, WindowValidation,
};
use airtcp_tcp::loss_differentiation::{Differentiation, ZigZagTable};
use airtcp_tcp::{Config, Profile};
use airtcp_units::Duration;

use super::source::Source;

const CONGESTION_CONTROLS: [CongestionControl; 24] = [
    CongestionControl::Reno,
    CongestionControl::Cubic,
    CongestionControl::Westwood,
    CongestionControl::Veno,
    CongestionControl::Vegas,
    CongestionControl::Jersey,
    CongestionControl::Bbr,
    CongestionControl::BbrV3,
    CongestionControl::Illinois,
    CongestionControl::C2Tcp,
    CongestionControl::Prague,
    CongestionControl::Ledbat,
    CongestionControl::Hybla,
    CongestionControl::HTcp,
    CongestionControl::Yeah,
    CongestionControl::Cdg,
    CongestionControl::Dctcp,
    CongestionControl::Abc,
    CongestionControl::Sprout,
    CongestionControl::Copa,
    CongestionControl::Vivace,
    CongestionControl::ProteusP,
    CongestionControl::ProteusS,
    CongestionControl::Verus,
];

const DIFFERENTIATIONS: [Option<Differentiation>; 10] = [
    None,
    Some(Differentiation::ZigZag(ZigZagTable::NEWZAG)),
    Some(Differentiation::ZigZag(ZigZagTable::NEWZAG_ADJUSTED)),
    Some(Differentiation::ZigZag(ZigZagTable::CEN)),
    Some(Differentiation::Spike),
    Some(Differentiation::MBiaz),
    Some(Differentiation::Zbs),
    Some(Differentiation::Veno { beta: 3.0 }),
    Some(Differentiation::Oracle),
    Some(Differentiation::Coin {
        radio_probability: 0.5,
    }),
];

/// A configuration, and the profile that it is based on.
pub fn config(source: &mut Source<'_>) -> (Profile, Config) {
    let profile = source.pick(&Profile::ALL);
    let mut config = profile.config();
    config.mss = source.pick(&[config.mss, 536, 1448, 100, 1000]);
    config.receive_buffer =
        source.pick(&[config.receive_buffer, 1 << 20, 20_000, 3000, 300, 65_535]);
    config.pacing = source.one_in(4);
    config.pacing_shift = source.pick(&[config.pacing_shift, 10, 7, 0, 31]);
    config.ecn = source.pick(&[
        config.ecn,
        EcnUse::Request,
        EcnUse::Accept,
        EcnUse::Off,
        EcnUse::Accurate,
    ]);
    let changes = source.below(6);
    for _ in 0..changes {
        match source.below(5) {
            0 => change_recovery(&mut config, source),
            1 => change_window(&mut config, source),
            2 => change_timeout(&mut config.timeout, source),
            3 => change_receiver(&mut config, source),
            _ => change_acknowledgment(&mut config, source),
        }
    }
    (profile, config)
}

fn change_recovery(config: &mut Config, source: &mut Source<'_>) {
    match source.below(10) {
        0 => {
            config.recovery = source.pick(&[
                Recovery::Tahoe,
                Recovery::Reno,
                Recovery::NewReno,
                Recovery::RecoveryPeriod,
            ]);
        }
        1 => {
            config.loss_detection = source.pick(&[
                LossDetection::DuplicateAcks,
                LossDetection::ForwardAcknowledgment,
                LossDetection::Rack,
                LossDetection::Quic,
            ]);
        }
        2 => config.tail_loss_probe = source.one_in(2),
        3 => {
            let bits = source.byte();
            config.spurious_detection = SpuriousDetection {
                eifel: bits & 1 != 0,
                frto: bits & 2 != 0,
                dsack_undo: bits & 4 != 0,
            };
        }
        4 => {
            config.spurious_response = source.pick(&[
                SpuriousResponse::None,
                SpuriousResponse::Restore,
                SpuriousResponse::Eifel,
            ]);
        }
        5 => {
            config.retransmission = source.pick(&[
                Retransmission::GoBackN,
                Retransmission::SelectiveRepeat,
                Retransmission::Probe,
            ]);
        }
        6 => config.duplicate_ack_threshold = source.pick(&[3, 1, 2, 5, 0]),
        7 => config.limited_transmit = source.one_in(2),
        8 => config.differentiation = source.pick(&DIFFERENTIATIONS),
        _ => {
            let bits = source.byte();
            let apart = Duration::from_millis(5);
            config.link_feedback = LinkFeedbackConfig {
                corrected_rtt: (bits & 1 != 0).then_some(apart),
                dynamic_threshold: (bits & 2 != 0).then(|| dynamic_threshold(source)),
                rtt_clusters: (bits & 4 != 0).then_some(RttClustering::by(apart)),
            };
        }
    }
}

fn dynamic_threshold(source: &mut Source<'_>) -> DynamicThreshold {
    DynamicThreshold {
        count: source.pick(&[GapCount::AboveFirstGap, GapCount::AsPrinted]),
        cap: source.pick(&[
            ThresholdCap::BelowWindow(1),
            ThresholdCap::None,
            ThresholdCap::BelowWindow(4),
        ]),
    }
}

fn change_window(config: &mut Config, source: &mut Source<'_>) {
    match source.below(12) {
        0 => config.congestion = source.pick(&CONGESTION_CONTROLS),
        1 => {
            config.slow_start = source.pick(&[
                SlowStart::Standard,
                SlowStart::HyStart,
                SlowStart::HyStart510,
                SlowStart::HyStartPlusPlus,
            ]);
        }
        2 => {
            config.reduction_base = source.pick(&[ReductionBase::FlightSize, ReductionBase::Window])
        }
        3 => {
            config.reduction = source.pick(&[
                Reduction::AtOnce,
                Reduction::RateHalving,
                Reduction::Proportional,
                Reduction::Proportional510,
            ]);
        }
        4 => {
            config.window_validation = source.pick(&[
                WindowValidation::InFlight,
                WindowValidation::LastRound,
                WindowValidation::Always,
            ]);
        }
        5 => {
            config.window_growth =
                source.pick(&[WindowGrowth::Bytes, WindowGrowth::Acknowledgments])
        }
        6 => config.slow_start_limit = source.pick(&[2, 1, 1_000_000]),
        7 => config.initial_window = source.pick(&[10, 1, 2, 40, 0]),
        8 => config.initial_ssthresh = source.pick(&[None, Some(0), Some(10_000)]),
        9 => config.max_window = source.pick(&[None, Some(1), Some(2), Some(20), Some(0)]),
        10 => config.restart_after_idle = source.one_in(2),
        _ => config.nagle = source.one_in(2),
    }
}

fn change_timeout(timeout: &mut TimeoutConfig, source: &mut Source<'_>) {
    match source.below(9) {
        0 => {
            timeout.estimation = source.pick(&[
                RttEstimation::Rfc6298,
                RttEstimation::Ticks,
                RttEstimation::Linux,
            ]);
        }
        1 => {
            timeout.sampling = source.pick(&[
                RttSampling::PerAcknowledgment,
                RttSampling::PerWindow,
                RttSampling::ByTimestamps,
                RttSampling::EchoedTimestamp,
            ]);
        }
        2 => {
            timeout.deviation_from =
                source.pick(&[DeviationFrom::PreviousMean, DeviationFrom::UpdatedMean]);
        }
        3 => timeout.back_off = !source.one_in(2),
        4 => {
            timeout.scope = source.pick(&[
                None,
                Some(TimerScope::Connection),
                Some(TimerScope::Segment),
            ]);
        }
        5 => timeout.min = Duration::from_millis(source.pick(&[200, 1, 1000])),
        6 => timeout.max = Duration::from_secs(source.pick(&[60, 4, 120])),
        7 => timeout.factor = source.pick(&[4.0, 1.0, 10.0]),
        _ => timeout.granularity = Duration::from_millis(source.pick(&[1, 10, 500])),
    }
}

fn change_acknowledgment(config: &mut Config, source: &mut Source<'_>) {
    match source.below(9) {
        0 => {
            config.quirks.partial_ack_timer =
                source.pick(&[PartialAckTimer::Impatient, PartialAckTimer::SlowButSteady]);
        }
        1 => {
            config.quirks.growth_credit =
                source.pick(&[GrowthCredit::Acknowledged, GrowthCredit::Delivered])
        }
        2 => {
            config.quirks.timer_restart = source.pick(&[TimerRestart::NewData, TimerRestart::Front])
        }
        3 => {
            config.quirks.reported_rtt = source.pick(&[ReportedRtt::Ignored, ReportedRtt::Sampled])
        }
        4 => config.quirks.late_reports = source.pick(&[LateReports::Ignored, LateReports::Taken]),
        5 => config.quirks.reneging = source.pick(&[Reneging::AtTimeout, Reneging::HalfRoundTrip]),
        6 => {
            config.quirks.window_reopening =
                source.pick(&[WindowReopening::Resend, WindowReopening::AwaitTimer]);
        }
        7 => {
            config.quirks.duplicate_counting =
                source.pick(&[DuplicateCounting::Inflation, DuplicateCounting::Arrivals]);
        }
        _ => config.quirks.slow_start_limit_after_timeout = source.pick(&[1, 2, 1_000_000]),
    }
}

fn change_receiver(config: &mut Config, source: &mut Source<'_>) {
    match source.below(6) {
        0 => config.sack = source.one_in(2),
        1 => config.dsack = source.one_in(2),
        2 => config.timestamps = source.one_in(2),
        // RFC 7323 §5.4: between 1 ms and 1 s.
        3 => config.timestamp_tick = Duration::from_millis(source.pick(&[1, 10, 1000])),
        4 => config.receive_window = source.pick(&[ReceiveWindow::Fixed, ReceiveWindow::Autotuned]),
        _ => {
            config.delayed_ack = DelayedAckConfig {
                segments: source.pick(&[2, 1, 4]),
                timeout: Duration::from_millis(source.pick(&[40, 200, 1])),
                quick: source.pick(&[0, 16]),
                ..config.delayed_ack
            };
        }
    }
}

//! Named stacks: each a short table of choices over the same parts.

use airtcp_units::Duration;

use super::{
    Config, CongestionControl, DelayedAckConfig, DuplicateCounting, DuplicateReports, EcnUse,
    GrowthCredit, HandshakeAck, JudgedRtt, LateReports, LimitsConfig, LossDetection,
    PartialAckTimer, Push, QuirksConfig, ReceiveWindow, Recovery, Reduction, ReductionBase,
    Reneging, RepeatedSyn, ReportedRtt, RttEstimation, RttSampling, ShortTrains, SlowStart,
    SpuriousDetection, SpuriousResponse, TimeoutConfig, TimerRestart, WindowGrowth,
    WindowReopening, WindowValidation,
};

/// Declares each profile once: its variant, its name in scenarios, and its summary.
macro_rules! profiles {
    ($($(#[$attribute:meta])* $Name:ident = $name:literal: $summary:literal,)+) => {
        /// A named stack: a table of choices over the same parts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        #[cfg_attr(
            feature = "schema",
            derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)
        )]
        pub enum Profile {
            $(
                #[doc = $summary]
                $(#[$attribute])*
                #[cfg_attr(feature = "schema", serde(rename = $name))]
                $Name,
            )+
        }

        impl Profile {
            /// All profiles, in the order in which users see them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Name),+];

            /// The name in scenarios.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Name => $name,)+ }
            }

            /// One-line description of the profile.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$Name => $summary,)+ }
            }
        }
    };
}

/// A burst of Prague's lasts 2^-12 s (Linux, `prague_burst_shift`).
pub const PRAGUE_BURST_SHIFT: u32 = 12;
/// Packets leave one by one, as from a program that paces UDP: at no rate does a burst of 2^-31 s
/// hold two segments.
pub const UNBURST_SHIFT: u32 = 31;

profiles! {
    Tahoe = "tahoe": "fast retransmit, then slow start (Jacobson 1988)",
    Reno = "reno": "fast recovery that ends at the first new ACK (RFC 2581)",
    NewReno = "newreno": "fast recovery through partial ACKs (RFC 6582)",
    Sack = "sack": "recovery from selective acknowledgments (RFC 2018, 6675)",
    Ns2NewReno = "ns2-newreno": "NewReno with ns-2's defaults: 10 ms tick, window of 20 segments",
    Linux24 = "linux-2.4": "Linux 2.4: SACK, FACK, rate halving, undo (Lien et al. §III-A)",
    #[default]
    Linux = "linux": "Linux 6: CUBIC, RACK-TLP, PRR, F-RTO, undo",
    LinuxReno = "linux-reno": "Linux 6 with Reno as congestion control",
    LinuxBbr = "linux-bbr": "Linux 6 with BBR version 1 as congestion control",
    Linux612 = "linux-6.12": "linux as of 6.12: another receive window",
    Linux61 = "linux-6.1": "linux as of 6.1: another receive window, SYNs that double at once",
    Linux510 = "linux-5.10": "linux as of 5.10: the same, and PRR, HyStart, DSACK as before 5.14",
}

impl Profile {
    /// The settings of this profile.
    pub fn config(self) -> Config {
        let default = Config::default();
        match self {
            Self::Tahoe => Config {
                recovery: Recovery::Tahoe,
                limited_transmit: false,
                ..default
            },
            Self::Reno => Config {
                recovery: Recovery::Reno,
                ..default
            },
            Self::NewReno => default,
            Self::Sack => Config {
                sack: true,
                ..default
            },
            Self::Ns2NewReno => ns2_newreno(),
            Self::Linux24 => linux_2_4(),
            Self::Linux => linux_cubic(),
            Self::LinuxReno => linux(CongestionControl::Reno),
            Self::LinuxBbr => linux(CongestionControl::Bbr),
            Self::Linux612 => linux_6_12(),
            Self::Linux61 => linux_6_1(),
            Self::Linux510 => linux_5_10(),
        }
    }

    /// The settings of this profile with another congestion control, and the choices that its
    /// module makes in Linux 6: HyStart is CUBIC's (`tcp_cubic.c`), and a control that needs marks
    /// asks for them (`tcp_ca_needs_ecn`).
    pub fn config_with(self, control: CongestionControl) -> Config {
        let usual = Config {
            congestion: control,
            ..self.config()
        };
        let hystart = match self {
            Self::Linux510 => SlowStart::HyStart510,
            Self::Linux | Self::LinuxReno | Self::LinuxBbr | Self::Linux612 | Self::Linux61 => {
                SlowStart::HyStart
            }
            _ => return usual,
        };
        let with = Config {
            slow_start: SlowStart::Standard,
            ..usual
        };
        match control {
            // C2TCP is a patch of CUBIC.
            CongestionControl::Cubic | CongestionControl::C2Tcp => Config {
                slow_start: hystart,
                ..with
            },
            CongestionControl::Dctcp | CongestionControl::Abc => Config {
                ecn: EcnUse::Request,
                ..with
            },
            CongestionControl::Sprout => Config {
                delayed_ack: with.delayed_ack.of_each_segment(),
                ..with
            },
            CongestionControl::Prague => Config {
                ecn: EcnUse::Accurate,
                pacing: true,
                pacing_shift: PRAGUE_BURST_SHIFT,
                ..with
            },
            CongestionControl::Vivace
            | CongestionControl::ProteusP
            | CongestionControl::ProteusS => Config {
                pacing_shift: UNBURST_SHIFT,
                ..with
            },
            CongestionControl::External(_) => usual,
            _ => with,
        }
    }
}

fn linux_cubic() -> Config {
    Config {
        slow_start: SlowStart::HyStart,
        ..linux(CongestionControl::Cubic)
    }
}

/// Reverts changes after 6.12: 65c5287892e9 (6.16).
fn linux_6_12() -> Config {
    Config {
        receive_window: ReceiveWindow::Autotuned612,
        ..linux_cubic()
    }
}

/// Reverts changes after 6.1: dfa2f0483360 (6.6), ccce324dabfe (6.5).
fn linux_6_1() -> Config {
    Config {
        receive_window: ReceiveWindow::Autotuned61,
        limits: LimitsConfig::default(),
        ..linux_6_12()
    }
}

/// Reverts changes after 5.10: 7e901ee7b6ab (5.14) and 9ad084d66619 (5.19), a657db0350bb and
/// 63f367d9de77 (5.15), 4e1fddc98d25 (5.16).
fn linux_5_10() -> Config {
    Config {
        reduction: Reduction::Proportional510,
        quirks: QuirksConfig {
            duplicate_reports: DuplicateReports::All,
            ..linux_quirks()
        },
        slow_start: SlowStart::HyStart510,
        ..linux_6_1()
    }
}

/// The choices of every Linux 6, whatever its congestion control (`net/ipv4/tcp*.c`).
fn linux(congestion: CongestionControl) -> Config {
    Config {
        sack: true,
        // `sysctl_tcp_ecn` is 2: the side that opens the connection does not request ECN.
        ecn: EcnUse::Accept,
        congestion,
        reduction_base: ReductionBase::Window,
        reduction: Reduction::Proportional,
        receive_window: ReceiveWindow::Autotuned,
        window_validation: WindowValidation::LastRound,
        restart_after_idle: true,
        nagle: true,
        loss_detection: LossDetection::Rack,
        tail_loss_probe: true,
        spurious_detection: SpuriousDetection {
            eifel: true,
            frto: true,
            dsack_undo: true,
        },
        spurious_response: SpuriousResponse::Restore,
        // `tcp_slow_start` adds all the data acknowledged.
        slow_start_limit: 1_000_000,
        quirks: linux_quirks(),
        limits: LimitsConfig {
            syn_linear_timeouts: 4,
            ..LimitsConfig::default()
        },
        timeout: TimeoutConfig {
            estimation: RttEstimation::Linux,
            max: Duration::from_secs(120),
            ..TimeoutConfig::default()
        },
        delayed_ack: DelayedAckConfig {
            quick: 16,
            on_reading: true,
            compressed: true,
            fin_at_once: false,
            ..DelayedAckConfig::default()
        },
        ..Config::default()
    }
}

/// Where every Linux 6 departs from an RFC, or chooses what one leaves open.
fn linux_quirks() -> QuirksConfig {
    QuirksConfig {
        timestamps_required: false,
        duplicate_counting: DuplicateCounting::Arrivals,
        slow_start_limit_after_timeout: 1_000_000,
        growth_credit: GrowthCredit::Delivered,
        partial_ack_timer: PartialAckTimer::SlowButSteady,
        timer_restart: TimerRestart::Front,
        reported_rtt: ReportedRtt::Sampled,
        judged_rtt: JudgedRtt::Newest,
        late_reports: LateReports::Taken,
        duplicate_reports: DuplicateReports::Told,
        reneging: Reneging::HalfRoundTrip,
        push: Push::Trains,
        short_trains: ShortTrains::Deferred,
        handshake_ack: HandshakeAck::Alone,
        repeated_syn: RepeatedSyn::ByEcho,
        window_reopening: WindowReopening::AwaitTimer,
    }
}

/// Sarolahti & Kuznetsov, "Congestion control in Linux TCP", USENIX 2002; Lien et al. §II-D set the
/// clock to 1 ms.
fn linux_2_4() -> Config {
    Config {
        // `tcp_ecn` was 0 then.
        ecn: EcnUse::Off,
        initial_window: 2,
        // Appropriate byte counting came with 2.6.14.
        window_growth: WindowGrowth::Acknowledgments,
        // Segmentation offload came with 2.5. How its kernels end a handshake, and take a repeated
        // SYN, was not looked up; earlier results with this profile were obtained so.
        quirks: QuirksConfig {
            timestamps_required: false,
            slow_start_limit_after_timeout: 1_000_000,
            partial_ack_timer: PartialAckTimer::SlowButSteady,
            window_reopening: WindowReopening::AwaitTimer,
            ..QuirksConfig::default()
        },
        delayed_ack: DelayedAckConfig {
            quick: 16,
            ..DelayedAckConfig::default()
        },
        reduction: Reduction::RateHalving,
        receive_window: ReceiveWindow::Fixed,
        loss_detection: LossDetection::ForwardAcknowledgment,
        tail_loss_probe: false,
        limits: LimitsConfig::default(),
        spurious_detection: SpuriousDetection {
            eifel: true,
            frto: false,
            dsack_undo: true,
        },
        timeout: TimeoutConfig {
            initial: Duration::from_secs(3),
            ..linux(CongestionControl::Reno).timeout
        },
        ..linux(CongestionControl::Reno)
    }
}

/// ns-2.35's `ns-default.tcl`: `window_ 20`, `windowInit_ 2`, `packetSize_ 1000`, `tcpTick_ 0.01`,
/// `minrto_ 0.2`, `rtxcur_init_ 3.0`, a sink that acknowledges every packet, no timestamps.
fn ns2_newreno() -> Config {
    Config {
        mss: 1000,
        initial_window: 2,
        max_window: Some(20),
        initial_ssthresh: Some(20 * 1000),
        timestamps: false,
        reduction_base: ReductionBase::Window,
        window_validation: WindowValidation::Always,
        window_growth: WindowGrowth::Acknowledgments,
        timeout: TimeoutConfig {
            estimation: RttEstimation::Ticks,
            sampling: RttSampling::ByTimestamps,
            granularity: Duration::from_millis(10),
            initial: Duration::from_secs(3),
            ..TimeoutConfig::default()
        },
        delayed_ack: DelayedAckConfig {
            segments: 1,
            ..DelayedAckConfig::default()
        },
        ..Config::default()
    }
}

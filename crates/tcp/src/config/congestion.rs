//! The choices of congestion control.

/// How large the congestion window is: the window rule.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum CongestionControl {
    /// One segment more a round trip, half at a loss (RFC 5681 §3).
    #[default]
    Reno,
    /// A cubic function of the time since the last loss (RFC 9438).
    Cubic,
    /// Reno, but a loss leaves what the bandwidth estimate fills (Westwood+, Grieco & Mascolo,
    /// CCR 34(2), 2004).
    Westwood,
    /// Reno, but a loss without backlog is the radio's and costs a fifth (Fu & Liew, JSAC 21(2),
    /// 2003). `beta`: backlog in segments that means congestion.
    Veno {
        /// Backlog in segments from which on a loss means congestion (§II: 3).
        beta: f64,
    },
    /// Reno with the window that an available bandwidth estimate allows (Xu, Tian & Ansari,
    /// JSAC 22(4), 2004), without the routers' congestion warning.
    Jersey,
    /// A model of bottleneck bandwidth and round trip, paced (BBR version 1, Cardwell et al., ACM
    /// Queue 14(5), 2016; `tcp_bbr.c`).
    Bbr,
    /// BBR version 3 (draft-ietf-ccwg-bbr).
    BbrV3,
}

/// How slow start ends before a loss ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SlowStart {
    /// At the threshold only (RFC 5681 §3.1).
    #[default]
    Standard,
    /// When acknowledgment trains or round trips grow long, at once (HyStart, Ha & Rhee, Computer
    /// Networks 55(9), 2011, as Linux has it).
    HyStart,
    /// When round trips grow, through a phase of slower growth that may be left again (HyStart++,
    /// RFC 9406).
    HyStartPlusPlus,
}

/// What a reduction of the window is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReductionBase {
    /// The bytes in flight (RFC 5681 §3.1, eq. 4).
    #[default]
    FlightSize,
    /// The congestion window, as Linux and ns-2 do; safe where an unused window does not grow.
    Window,
}

/// How the window gets from where it was to where a loss puts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reduction {
    /// At once: nothing is sent until enough has left the network.
    #[default]
    AtOnce,
    /// One segment for two acknowledged, until it is there (Linux 2.4; Mathis, Semke & Mahdavi,
    /// "The rate-halving algorithm", 1999).
    RateHalving,
    /// In proportion to what is delivered, so that it is there when the recovery ends (PRR,
    /// RFC 6937; its successor's rule for when to bound by segments, RFC 9937).
    Proportional,
}

/// When a window counts as used, so that it may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WindowValidation {
    /// What was in flight when the acknowledgment came filled it (RFC 7661 §4.1).
    #[default]
    InFlight,
    /// It held the sender back in the last round trip; in slow start half of it in flight will do
    /// (Linux, `tcp_is_cwnd_limited`).
    LastRound,
    /// Always (RFC 5681; ns-2).
    Always,
}

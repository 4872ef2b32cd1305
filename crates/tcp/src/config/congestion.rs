//! Choices about the congestion window, except for the rule that moves it:
//! [`CongestionControl`](crate::congestion::CongestionControl).

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "schema")]
use serde::{Deserialize, Serialize};

/// The condition that ends slow start before a loss does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum SlowStart {
    /// At the threshold only (RFC 5681 §3.1).
    #[default]
    Standard,
    /// When acknowledgment trains or round trips grow long, at once (HyStart, Ha & Rhee, Computer
    /// Networks 55(9), 2011, as implemented by Linux).
    #[cfg_attr(feature = "schema", serde(rename = "hystart"))]
    HyStart,
    /// HyStart that takes no notice of acknowledgments before the window has 16 segments, so that
    /// its first round trip begins there (Linux up to 5.15).
    #[cfg_attr(feature = "schema", serde(rename = "hystart-5.10"))]
    HyStart510,
    /// When round trips grow, through a phase of slower growth that may be reverted (HyStart++, RFC
    /// 9406).
    #[cfg_attr(feature = "schema", serde(rename = "hystart++"))]
    HyStartPlusPlus,
}

/// The quantity that a reduction of the window is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum ReductionBase {
    /// The bytes in flight (RFC 5681 §3.1, eq. 4).
    #[default]
    FlightSize,
    /// The congestion window, as Linux and ns-2 do; safe where an unused window does not grow.
    Window,
}

/// The way the window moves to the value that a loss sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum Reduction {
    /// Immediately: nothing is sent until enough has left the network.
    #[default]
    AtOnce,
    /// One segment for every two acknowledged, until the window is reached (Linux 2.4; Mathis,
    /// Semke & Mahdavi, "The rate-halving algorithm", 1999).
    RateHalving,
    /// In proportion to the data delivered, so that the window is reached when the recovery ends
    /// (PRR, RFC 6937; its successor's rule for when to bound by segments, RFC 9937).
    Proportional,
    /// The same, but below the threshold no more than each acknowledgment reports, unless it
    /// acknowledges a retransmission and reveals no loss (Linux up to 5.13; in 5.14 to 5.18 the
    /// first half of it).
    #[cfg_attr(feature = "schema", serde(rename = "proportional-5.10"))]
    Proportional510,
}

/// How much of its buffer a receiver advertises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum ReceiveWindow {
    /// The whole receive buffer from the start.
    #[default]
    Fixed,
    /// 64 KiB at first, then at least twice the bytes read per round trip, growing with them, up to
    /// the receive buffer (Linux 6.16 and later, `tcp_rcvbuf_grow`). Each segment is acknowledged
    /// while it grows.
    Autotuned,
    /// The same with room for 16 segments more, so that it grows for longer (Linux 6.6 to 6.15,
    /// `tcp_rcv_space_adjust`).
    #[cfg_attr(feature = "schema", serde(rename = "autotuned-6.12"))]
    Autotuned612,
    /// That, and half of the memory holds data: the first window does not grow before a round trip
    /// has been measured (Linux up to 6.5, `tcp_adv_win_scale`).
    #[cfg_attr(feature = "schema", serde(rename = "autotuned-6.1"))]
    Autotuned61,
}

/// The condition under which a window counts as used, so that it may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum WindowValidation {
    /// The data in flight when the acknowledgment came filled it (RFC 7661 §4.1).
    #[default]
    InFlight,
    /// It limited the sender in the last round trip; in slow start half of it in flight is enough
    /// (Linux, `tcp_is_cwnd_limited`).
    LastRound,
    /// Always (RFC 5681; ns-2).
    Always,
}

/// The unit of window growth: the bytes an acknowledgment covers, or its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum WindowGrowth {
    /// Bytes acknowledged (RFC 3465), as Linux does.
    #[default]
    Bytes,
    /// One segment's worth for each acknowledgment whatever it covers, as ns-2 and ns-3 do.
    Acknowledgments,
}

/// The congestion window's algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
pub enum CongestionControl {
    /// One more segment per round trip, half the window at a loss (RFC 5681 §3).
    #[default]
    Reno,
    /// A cubic function of the time since the last loss (RFC 9438).
    Cubic,
    /// Reno, but a loss sets the window that the bandwidth estimate fills (Westwood+, Grieco &
    /// Mascolo, CCR 34(2), 2004).
    Westwood,
    /// Reno, but a loss without backlog is attributed to the radio and costs a fifth (Fu & Liew,
    /// JSAC 21(2), 2003).
    Veno,
    /// A segment more or less once a round trip, so that two to four segments wait in the network
    /// (Brakmo & Peterson, JSAC 13(8), 1995; `tcp_vegas.c`).
    Vegas,
    /// Reno with growth and reductions that follow the queueing delay (Liu, Başar & Srikant,
    /// Performance Evaluation 65, 2008; `tcp_illinois.c`).
    Illinois,
    /// Growth as fast, in bytes per second, as at a reference round trip of 25 ms (Caini &
    /// Firrincieli, IJSCN 22(5), 2004; `tcp_hybla.c`).
    Hybla,
    /// Growth that accelerates with the time since the last loss, and a share kept at a loss that
    /// follows round trips (Shorten & Leith, PFLDnet 2004; `tcp_htcp.c`).
    #[cfg_attr(feature = "schema", serde(rename = "htcp"))]
    HTcp,
    /// Scalable TCP while the queue is short, Reno otherwise (Baiocchi, Castellani & Vacirca,
    /// PFLDnet 2007; `tcp_yeah.c`).
    Yeah,
    /// Reno that also backs off as round trips grow, and keeps at least Reno's window after a loss
    /// (Hayes & Armitage, IFIP Networking 2011; `tcp_cdg.c`).
    Cdg,
    /// Reno that reduces its window in proportion to the share of its data that was marked (RFC
    /// 8257; `tcp_dctcp.c`), and echoes each mark. `ecn` has to ask for marks.
    Dctcp,
    /// CUBIC, with the window reduced to a segment while round trips stay above a target (Abbasloo
    /// et al., IFIP Networking 2018).
    #[cfg_attr(feature = "schema", serde(rename = "c2tcp"))]
    C2Tcp,
    /// A window that grows and shrinks with the queue's delay below and above a target, for
    /// transfers that yield to all others (LEDBAT, RFC 6817).
    Ledbat,
    /// Additive increase by the unmarked data, and a reduction by half the marked share, at a pace
    /// independent of the round trip (draft-briscoe-iccrg-prague-congestion-control;
    /// `tcp_prague.c`). Reno where marks are not counted (`ecn`).
    Prague,
    /// Reno with the window that an available bandwidth estimate allows (Xu, Tian & Ansari,
    /// JSAC 22(4), 2004), without the routers' congestion warning.
    Jersey,
    /// A model of bottleneck bandwidth and round trip, paced (BBR version 1, Cardwell et al., ACM
    /// Queue 14(5), 2016; `tcp_bbr.c`).
    Bbr,
    /// A control that is not compiled in.
    #[cfg_attr(feature = "schema", serde(skip))]
    External(crate::external::ExternalControl),
    /// BBR version 3 (draft-ietf-ccwg-bbr).
    BbrV3,
    /// A window that moves towards a target rate, inversely proportional to the queueing delay,
    /// paced (Copa, Arun & Balakrishnan, NSDI 2018).
    Copa,
    /// A pace that climbs the gradient of a utility of rate, delay and losses, measured a little
    /// above and below it (PCC Vivace, Dong et al., NSDI 2018).
    Vivace,
    /// The same with a filter for noise, as a primary sender (PCC Proteus, Meng et al., SIGCOMM
    /// 2020).
    ProteusP,
    /// The same as a scavenger, which yields to flows that move the round trip (Proteus-S).
    ProteusS,
    /// The window that goes with a target delay in a learned profile, every 5 ms (Verus, Zaki et
    /// al., SIGCOMM 2015).
    Verus,
    /// A packet more or less for each acknowledgment, as routers ask, bounded by CUBIC's window for
    /// bottlenecks that do not (ABC, Goyal et al., NSDI 2020). `ecn` has to ask for marks, and the
    /// receiver has to have this control, too.
    Abc,
    /// As much in flight as the receiver forecasts to be delivered within 100 ms (Sprout, Winstein,
    /// Sivaraman & Balakrishnan, NSDI 2013). The receiver has to have this control, too, and to
    /// acknowledge each segment.
    Sprout,
}

//! The available window rules, one line each, and the trait they implement.

use alloc::boxed::Box;

use airtcp_units::{BitRate, Duration, Instant};

use super::windows::Windows;
use super::{
    Ack, bbr, c2tcp, cubic, illinois, jersey, ledbat, prague, reno, vegas, veno, westwood,
};
use crate::config::Config;

/// A rule at the start of a connection.
pub(super) trait Start {
    /// Creates the rule with its parameters from `config`, and the windows it starts with.
    fn start(config: &Config, windows: &Windows) -> Self;
}

impl<R: Start> Start for Box<R> {
    fn start(config: &Config, windows: &Windows) -> Self {
        Self::new(R::start(config, windows))
    }
}

/// Moves the window outside slow start. Every method except [`grow`](Self::grow) and
/// [`threshold`](Self::threshold) may do nothing.
pub(super) trait Rule {
    /// Sees every acknowledgment that delivers something, whether or not the window may grow.
    fn observe(&mut self, _ack: &Ack, _windows: &mut Windows) {}

    /// Returns by how many bytes the window grows when `acked` bytes are acknowledged.
    fn grow(&mut self, acked: u64, windows: &Windows) -> u64;

    /// The slow-start threshold after a loss with `base` bytes in the network, in bytes.
    fn threshold(&mut self, base: u64, windows: &Windows) -> u64;

    /// Called when the retransmission timer has expired.
    fn on_timeout(&mut self) {}

    /// Called when a loss turned out not to have been one.
    fn on_taken_back(&mut self) {}

    /// Called when something is sent after nothing was in flight for `idle`.
    fn on_idle_over(&mut self, _now: Instant, _idle: Duration) {}

    /// Called when the peer turns out to count congestion marks. Returns whether the rule reacts to
    /// each of them itself.
    fn heed_each_mark(&mut self) -> bool {
        false
    }

    /// Number of times that the rule itself has reduced the window for marks.
    fn reductions_for_marks(&self) -> u64 {
        0
    }

    /// Bytes that leave in a round trip, of a rule that spreads its window over it without a margin
    /// and segment by segment.
    fn paced_window(&self, _windows: &Windows) -> Option<u64> {
        None
    }

    /// The model, of a rule that moves the window itself at every acknowledgment.
    fn model(&self) -> Option<Model> {
        None
    }
}

/// The demands that a rule's model of the path makes on the sender besides the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Model {
    /// The pacing rate.
    pub pacing_rate: BitRate,
    /// Minimum burst, in segments.
    pub least_burst: u64,
    /// Whether the window is kept almost empty, to measure the round trip.
    pub is_probing_rtt: bool,
}

/// Declares each rule once: its configuration choice and its type.
macro_rules! controls {
    ($($(#[$attribute:meta])* $Name:ident($Rule:ty),)+) => {
        /// The congestion window's algorithm.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        #[cfg_attr(
            feature = "schema",
            derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
            serde(rename_all = "kebab-case")
        )]
        pub enum CongestionControl {
            $($(#[$attribute])* $Name,)+
        }

        /// The rule of a connection. All except the common one are boxed, so that very many
        /// connections fit in memory.
        #[derive(Clone, Debug)]
        pub(super) enum Control {
            $($Name($Rule),)+
        }

        impl Start for Control {
            fn start(config: &Config, windows: &Windows) -> Self {
                match config.congestion {
                    $(CongestionControl::$Name => Self::$Name(Start::start(config, windows)),)+
                }
            }
        }

        impl Rule for Control {
            #[inline]
            fn observe(&mut self, ack: &Ack, windows: &mut Windows) {
                match self { $(Self::$Name(rule) => rule.observe(ack, windows),)+ }
            }

            #[inline]
            fn grow(&mut self, acked: u64, windows: &Windows) -> u64 {
                match self { $(Self::$Name(rule) => rule.grow(acked, windows),)+ }
            }

            fn threshold(&mut self, base: u64, windows: &Windows) -> u64 {
                match self { $(Self::$Name(rule) => rule.threshold(base, windows),)+ }
            }

            fn on_timeout(&mut self) {
                match self { $(Self::$Name(rule) => rule.on_timeout(),)+ }
            }

            fn on_taken_back(&mut self) {
                match self { $(Self::$Name(rule) => rule.on_taken_back(),)+ }
            }

            fn on_idle_over(&mut self, now: Instant, idle: Duration) {
                match self { $(Self::$Name(rule) => rule.on_idle_over(now, idle),)+ }
            }

            fn heed_each_mark(&mut self) -> bool {
                match self { $(Self::$Name(rule) => rule.heed_each_mark(),)+ }
            }

            fn reductions_for_marks(&self) -> u64 {
                match self { $(Self::$Name(rule) => rule.reductions_for_marks(),)+ }
            }

            #[inline]
            fn paced_window(&self, windows: &Windows) -> Option<u64> {
                match self { $(Self::$Name(rule) => rule.paced_window(windows),)+ }
            }

            #[inline]
            fn model(&self) -> Option<Model> {
                match self { $(Self::$Name(rule) => rule.model(),)+ }
            }
        }
    };
}

controls! {
    /// One more segment per round trip, half the window at a loss (RFC 5681 §3).
    #[default]
    Reno(reno::Reno),
    /// A cubic function of the time since the last loss (RFC 9438).
    Cubic(Box<cubic::Cubic>),
    /// Reno, but a loss sets the window that the bandwidth estimate fills (Westwood+, Grieco &
    /// Mascolo, CCR 34(2), 2004).
    Westwood(Box<westwood::Westwood>),
    /// Reno, but a loss without backlog is attributed to the radio and costs a fifth (Fu & Liew,
    /// JSAC 21(2), 2003).
    Veno(Box<veno::Veno>),
    /// A segment more or less once a round trip, so that two to four segments wait in the network
    /// (Brakmo & Peterson, JSAC 13(8), 1995; `tcp_vegas.c`).
    Vegas(Box<vegas::Vegas>),
    /// Reno whose growth and reductions follow the queue's delay (Liu, Başar & Srikant,
    /// Performance Evaluation 65, 2008; `tcp_illinois.c`).
    Illinois(Box<illinois::Illinois>),
    /// CUBIC whose window falls to a segment while round trips stay above a target (Abbasloo et
    /// al., IFIP Networking 2018).
    #[cfg_attr(feature = "schema", serde(rename = "c2tcp"))]
    C2Tcp(Box<c2tcp::C2Tcp>),
    /// A window that grows and shrinks with the queue's delay below and above a target, for
    /// transfers that yield to all others (LEDBAT, RFC 6817).
    Ledbat(Box<ledbat::Ledbat>),
    /// Additive increase by what was not marked, and a reduction by half the share that was, at the
    /// same pace whatever the round trip (draft-briscoe-iccrg-prague-congestion-control;
    /// `tcp_prague.c`). Reno where marks are not counted (`ecn`).
    Prague(Box<prague::Prague>),
    /// Reno with the window that an available bandwidth estimate allows (Xu, Tian & Ansari,
    /// JSAC 22(4), 2004), without the routers' congestion warning.
    Jersey(Box<jersey::Jersey>),
    /// A model of bottleneck bandwidth and round trip, paced (BBR version 1, Cardwell et al., ACM
    /// Queue 14(5), 2016; `tcp_bbr.c`).
    Bbr(Box<bbr::Bbr>),
    /// BBR version 3 (draft-ietf-ccwg-bbr).
    BbrV3(Box<bbr::BbrV3>),
}

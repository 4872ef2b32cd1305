//! What lies between the endpoints, checked.

use airtcp_link::PipeConfig;
use airtcp_link::mac::dcf::BssConfig;
use airtcp_units::Duration;

/// The wireless link, or what stands for it.
#[derive(Clone, Debug)]
pub enum Link {
    /// A pipe each way.
    Pipe {
        /// The direction that data takes.
        data: PipeConfig,
        /// The direction that acknowledgments take.
        acks: PipeConfig,
    },
    /// An IEEE 802.11 channel, or two.
    Wlan(Wlan),
}

/// An IEEE 802.11 channel.
#[derive(Clone, Debug)]
pub struct Wlan {
    /// What it is made of, but for what the mobiles' places decide.
    pub bss: BssConfig,
}

/// The path between the access point and the wired hosts.
#[derive(Clone, Debug)]
pub struct Wired {
    /// The line that all flows share, each direction one of its own.
    pub line: PipeConfig,
    /// A further round trip for each flow.
    pub round_trip: Option<RoundTrip>,
}

/// How further round-trip times are distributed over flows (Mahmoodi et al. §IV).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundTrip {
    /// Every time between the two is as likely.
    Uniform {
        /// Shortest.
        from: Duration,
        /// Longest.
        to: Duration,
    },
    /// Gauss's bell; a draw below zero counts as zero.
    Normal {
        /// Mean of the bell.
        mean: Duration,
        /// Its standard deviation.
        deviation: Duration,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Duration,
    },
}

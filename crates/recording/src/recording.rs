//! All facts that a file can hold about a link, in one form.

use airtcp_units::Duration;

use crate::probes::ProbeLog;
use crate::trains::Trains;

/// The way of data, seen from the device at the end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the device to the network.
    Up,
    /// From the network to the device.
    Down,
    /// Not recorded.
    Unknown,
}

/// Bound of a measured rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// The link: a queue stood in front of it, or more was offered than arrived.
    Link,
    /// The sender's target rate.
    Target,
    /// A window or a buffer of the sender or the receiver.
    Window,
    /// A shaper in front of the link.
    Shaper,
    /// The transfer as it was: nothing shows that the link was full.
    Transfer,
    /// The file states it as a setting.
    Setting,
}

impl Bound {
    /// Whether the rate is that of the link, and not a lower bound.
    #[must_use]
    pub const fn is_the_links(self) -> bool {
        matches!(self, Self::Link | Self::Setting)
    }
}

/// Layer at which a rate is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Whole IP packets.
    Packets,
    /// Data of TCP.
    Tcp,
    /// Data of UDP.
    Udp,
}

/// A rate for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStep {
    /// When it began, since the file began.
    pub from: Duration,
    /// How long it held.
    pub length: Duration,
    /// Bits a second of [`Rates::layer`].
    pub bits_per_second: u64,
    /// Its bound.
    pub bound: Bound,
}

/// The rate of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Which one.
    pub direction: Direction,
    /// The file's figure for the whole, in bits a second.
    pub mean: u64,
    /// Bound of the mean.
    pub bound: Bound,
    /// The layer at which it is counted.
    pub layer: Layer,
    /// The rate over time, in order; empty if the file has only the mean.
    pub steps: Vec<RateStep>,
}

/// When a link could carry a packet, as of mahimahi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Which direction.
    pub direction: Direction,
    /// Bytes of an IP packet that one opportunity lets pass.
    pub bytes: u32,
    /// Times in whole milliseconds, never decreasing; the last is the period and above zero.
    pub times_ms: Vec<u32>,
}

/// A delay as it changed, one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Which direction.
    pub direction: Direction,
    /// Times since the file began, increasing, and the delay from then on.
    pub steps: Vec<(Duration, Duration)>,
    /// Whether only differences mean anything, as between two clocks.
    pub is_relative: bool,
}

/// Whether the link was busy with other traffic while it was probed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Load {
    /// It was not.
    Idle,
    /// It was.
    Loaded,
    /// Not recorded.
    #[default]
    Unknown,
}

/// Single figures. Each is there where the file has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Round trip without load.
    pub idle_rtt: Option<Duration>,
    /// How much it varies from one probe to the next, as speed tests state it.
    pub idle_jitter: Option<Duration>,
    /// Smallest round trip under load: not below that without load.
    pub least_loaded_rtt: Option<Duration>,
    /// Usual round trip under a load in the direction of the device.
    pub loaded_down_rtt: Option<Duration>,
    /// The same from the device.
    pub loaded_up_rtt: Option<Duration>,
    /// The same for a load in unknown direction.
    pub loaded_rtt: Option<Duration>,
    /// Minimum round trip, with or without load.
    pub least_rtt: Option<Duration>,
    /// Its mean.
    pub mean_rtt: Option<Duration>,
    /// Its standard deviation.
    pub rtt_deviation: Option<Duration>,
    /// Share of packets that were lost, by direction.
    pub losses: Vec<(Direction, f64)>,
}

/// A hop of a route, probed by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hop {
    /// Its address or name.
    pub host: String,
    /// Probes sent to it.
    pub sent: u64,
    /// Share of them without an answer.
    pub loss: f64,
    /// Minimum round trip.
    pub least_rtt: Option<Duration>,
    /// Mean round trip.
    pub mean_rtt: Option<Duration>,
    /// Maximum round trip.
    pub worst_rtt: Option<Duration>,
}

/// How delays of a configured link vary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Uniform within the jitter.
    Uniform,
    /// A table of that name, which comes with iproute2.
    Table(String),
}

/// How a configured link loses packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Losses {
    /// Each with this probability.
    Random(f64),
    /// Two states: to the bad one, back, lost in the bad one, lost in the good one.
    GilbertElliott([f64; 4]),
}

/// A link as configured by `tc`, of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shaping {
    /// The device.
    pub device: String,
    /// Disciplines on it, from the root.
    pub disciplines: Vec<String>,
    /// Bits a second.
    pub rate: Option<u64>,
    /// Delay of every packet.
    pub delay: Option<Duration>,
    /// By how much it varies.
    pub jitter: Option<Duration>,
    /// The shape of that.
    pub spread: Option<Spread>,
    /// Losses.
    pub losses: Option<Losses>,
    /// Probability that a packet overtakes queued ones.
    pub reorder: Option<f64>,
    /// Packets that may wait, those in delay among them.
    pub limit_packets: Option<u64>,
    /// Bytes that may wait.
    pub limit_bytes: Option<u64>,
    /// The longest wait.
    pub limit_delay: Option<Duration>,
    /// Words that have no counterpart.
    pub unread: Vec<String>,
}

/// Where a file comes from, by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The program that wrote it, with its version.
    pub program: Option<String>,
    /// When it began, in nanoseconds since 1970 (UTC).
    pub began_unix_ns: Option<u64>,
    /// Addresses and names of machines in it.
    pub hosts: Vec<String>,
}

/// An assumption, and the option that overrides it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// As a clause: "the direction is down".
    pub what: String,
    /// The option, with its dashes; `None` if it cannot be overridden.
    pub option: Option<&'static str>,
}

/// Contents of a recording. Each part is present if the file has it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Recording {
    /// The name of the format, as in [`crate::FORMATS`].
    pub format: &'static str,
    /// Description of the file, with its main figures, as a noun phrase.
    pub summary: String,
    /// Probes of the link, such as a ping's.
    pub probes: Option<ProbeLog>,
    /// Answers to probes that had been answered before, as ping marks them ("DUP!").
    pub duplicates: u64,
    /// The hops of a route, from the nearest on.
    pub hops: Vec<Hop>,
    /// Whether there was load while they were sent.
    pub load: Load,
    /// Rates, at most one of each direction.
    pub rates: Vec<Rates>,
    /// Opportunities, at most one of each direction.
    pub opportunities: Vec<Opportunities>,
    /// One-way delays, at most one of each direction.
    pub delays: Vec<Delays>,
    /// Trains of packets over an idle link.
    pub trains: Option<Trains>,
    /// Single figures.
    pub figures: Figures,
    /// Devices with queueing disciplines.
    pub shaping: Vec<Shaping>,
    /// A table of a distribution, scaled by 8192, with mean 0 and deviation 1 wished for.
    pub table: Vec<i16>,
    /// Where it comes from.
    pub origin: Origin,
    /// Facts that its reader should know, each a sentence.
    pub remarks: Vec<String>,
    /// Assumptions that were made.
    pub assumptions: Vec<Assumption>,
}

impl Recording {
    /// A recording with nothing in it.
    #[must_use]
    pub fn new(format: &'static str, summary: String) -> Self {
        Self {
            format,
            summary,
            ..Self::default()
        }
    }

    /// A recording with probes only.
    #[must_use]
    pub fn of_probes(format: &'static str, probes: ProbeLog) -> Self {
        let summary = format!("{} probes, {} lost", probes.numbered(), probes.lost());
        Self {
            origin: Origin {
                began_unix_ns: probes.began_unix_ns(),
                ..Origin::default()
            },
            probes: Some(probes),
            ..Self::new(format, summary)
        }
    }

    /// Adds a sentence.
    pub(crate) fn remark(&mut self, sentence: impl Into<String>) {
        self.remarks.push(sentence.into());
    }

    /// Adds an assumption.
    pub(crate) fn assume(&mut self, what: impl Into<String>, option: Option<&'static str>) {
        self.assumptions.push(Assumption {
            what: what.into(),
            option,
        });
    }
}

//! Every choice an endpoint makes, in one place, and the named profiles: each a short table of
//! choices over the same parts.

use airtcp_units::Duration;

/// How the sender repairs losses once it knows of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recovery {
    /// Slow start from one segment after every loss (Jacobson 1988).
    Tahoe,
    /// Fast recovery that ends at the first new acknowledgment (RFC 2581).
    Reno,
    /// Fast recovery that ends when all data outstanding at its start is acknowledged (RFC 6582).
    #[default]
    NewReno,
}

/// What to resend after a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Retransmission {
    /// All outstanding data, in order from the expired segment, as the window opens.
    /// Miyim §IV calls it "trace-N-retransmit".
    #[default]
    GoBackN,
    /// Only the segment whose timer expired. Miyim §IV calls it "select-N-repeat".
    SelectiveRepeat,
}

/// How many retransmission timers a connection keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TimerScope {
    /// One, restarted by every acknowledgment of new data (RFC 6298 §5).
    #[default]
    Connection,
    /// One for each outstanding segment, set when the segment is sent (Miyim §IV).
    Segment,
}

/// What opens the window: the bytes an acknowledgment covers, or its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WindowGrowth {
    /// Bytes acknowledged (RFC 3465), as Linux does.
    #[default]
    Bytes,
    /// One segment's worth for each acknowledgment whatever it covers, as ns-2 and ns-3 do.
    Acknowledgments,
}

/// Which round trips are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RttSampling {
    /// One segment a window is timed (RFC 6298 §3 without timestamps).
    PerWindow,
    /// Every acknowledgment that allows it gives a sample (RFC 7323 §4.1 with timestamps).
    #[default]
    PerAcknowledgment,
    /// Every acknowledgment of new data is measured by the timestamp that it echoes (RFC 7323 §4.1,
    /// RTTM to the letter), in ticks of the timestamp clock: what a network element does to the echo
    /// shows. None without timestamps.
    EchoedTimestamp,
}

/// Which mean the deviation of a new round-trip sample is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DeviationFrom {
    /// The mean before the sample (RFC 6298 §2.3).
    #[default]
    PreviousMean,
    /// The mean after the sample (Miyim eq. 2, Fotiadis & Siris eq. 2).
    UpdatedMean,
}

/// The retransmission timeout's constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeoutConfig {
    /// Gain of the smoothed mean, alpha (RFC 6298 §2: 1/8).
    pub mean_gain: f64,
    /// Gain of the smoothed mean deviation, beta (RFC 6298 §2: 1/4).
    pub deviation_gain: f64,
    /// Factor m of the deviation in RTO = SRTT + m × RTTVAR (RFC 6298 K = 4; Miyim §III: 10).
    pub factor: f64,
    /// Lower bound of the RTO (RFC 6298 §2.4: 1 s; common stacks: 200 ms).
    pub min: Duration,
    /// Upper bound of the RTO, back-off included (RFC 6298 §2.5: at least 60 s).
    pub max: Duration,
    /// RTO before the first sample (RFC 6298 §2.1: 1 s).
    pub initial: Duration,
    /// Clock granularity G, the least the deviation term can be (RFC 6298 §2.3).
    pub granularity: Duration,
    /// Which round trips are measured.
    pub sampling: RttSampling,
    /// Which mean a sample's deviation is taken from.
    pub deviation_from: DeviationFrom,
    /// Whether the RTO doubles at each expiry (RFC 6298 §5.5).
    pub back_off: bool,
    /// One timer, or one for each segment. `None` chooses what the retransmission policy means:
    /// a timer for each segment under selective repeat, one timer under go-back-N.
    pub scope: Option<TimerScope>,
}

impl Default for TimeoutConfig {
    fn default() -> Self {
        Self {
            mean_gain: 0.125,
            deviation_gain: 0.25,
            factor: 4.0,
            min: Duration::from_millis(200),
            max: Duration::from_secs(60),
            initial: Duration::from_secs(1),
            granularity: Duration::from_millis(1),
            sampling: RttSampling::PerAcknowledgment,
            deviation_from: DeviationFrom::PreviousMean,
            back_off: true,
            scope: None,
        }
    }
}

/// When the receiver acknowledges (RFC 1122 §4.2.3.2, RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAckConfig {
    /// Full-sized segments until an acknowledgment must go out: 1 acknowledges each, 2 is the RFC's.
    pub segments: u32,
    /// The longest an acknowledgment waits.
    pub timeout: Duration,
}

impl Default for DelayedAckConfig {
    fn default() -> Self {
        Self {
            segments: 2,
            timeout: Duration::from_millis(40),
        }
    }
}

/// Every choice of one endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full-sized segment in bytes, options not counted. The MSS option on the wire
    /// is this plus the bytes that timestamps take (RFC 6691).
    pub mss: u32,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Slow-start threshold at the start, in bytes; `None` is unbounded.
    pub initial_ssthresh: Option<u64>,
    /// Upper bound of the congestion window in segments; `None` is unbounded.
    pub max_window: Option<u32>,
    /// Receive buffer in bytes: the most that can wait out of order or unread.
    pub receive_buffer: u64,
    /// Whether selective acknowledgments are offered (RFC 2018) and used (RFC 6675).
    pub sack: bool,
    /// Whether duplicates are reported (RFC 2883). Only with `sack`.
    pub dsack: bool,
    /// Whether timestamps are offered (RFC 7323).
    pub timestamps: bool,
    /// What one tick of the timestamp clock lasts (RFC 7323 §5.4: 1 ms to 1 s).
    pub timestamp_tick: Duration,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Duplicate acknowledgments that mean a loss (RFC 5681 §3.2: 3).
    pub duplicate_ack_threshold: u32,
    /// Whether the first two duplicate acknowledgments may each send a new segment (RFC 3042).
    pub limited_transmit: bool,
    /// What is resent after a timeout.
    pub retransmission: Retransmission,
    /// What opens the window.
    pub window_growth: WindowGrowth,
    /// Most segments one acknowledgment may open slow start by (RFC 3465 §2.3, L).
    pub slow_start_limit: u32,
    /// The retransmission timeout.
    pub timeout: TimeoutConfig,
    /// When the receiver acknowledges.
    pub delayed_ack: DelayedAckConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mss: 1448,
            initial_window: 10,
            initial_ssthresh: None,
            max_window: None,
            receive_buffer: 8 << 20,
            sack: false,
            dsack: true,
            timestamps: true,
            timestamp_tick: Duration::from_millis(1),
            recovery: Recovery::NewReno,
            duplicate_ack_threshold: 3,
            limited_transmit: true,
            retransmission: Retransmission::GoBackN,
            window_growth: WindowGrowth::Bytes,
            slow_start_limit: 2,
            timeout: TimeoutConfig::default(),
            delayed_ack: DelayedAckConfig::default(),
        }
    }
}

/// A named stack: a table of choices over the same parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Profile {
    /// Fast retransmit, then slow start; no fast recovery, no SACK.
    Tahoe,
    /// Fast recovery as of RFC 2581, no SACK.
    Reno,
    /// Fast recovery as of RFC 6582, no SACK.
    #[default]
    NewReno,
    /// Recovery from the SACK scoreboard, RFC 6675.
    Sack,
}

impl Profile {
    /// All profiles, in the order in which they are listed to users.
    pub const ALL: [Self; 4] = [Self::Tahoe, Self::Reno, Self::NewReno, Self::Sack];

    /// The name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tahoe => "tahoe",
            Self::Reno => "reno",
            Self::NewReno => "newreno",
            Self::Sack => "sack",
        }
    }

    /// What the name stands for, in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Tahoe => "fast retransmit, then slow start (Jacobson 1988)",
            Self::Reno => "fast recovery that ends at the first new ACK (RFC 2581)",
            Self::NewReno => "fast recovery through partial ACKs (RFC 6582)",
            Self::Sack => "recovery from selective acknowledgments (RFC 2018, 6675)",
        }
    }

    /// The choices the name stands for.
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
        }
    }
}

#[cfg(test)]
mod tests;

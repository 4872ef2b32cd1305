//! The retransmission timeout's choices.

use airtcp_units::Duration;

/// Which estimator turns round trips into a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RttEstimation {
    /// A smoothed mean and a smoothed mean deviation (RFC 6298 §2).
    #[default]
    Rfc6298,
    /// RFC 6298's in whole ticks of the granularity, the mean in eighths of a tick and the deviation in
    /// quarters, as 4.3BSD and ns-2 have it (Jacobson 1988, appendix A).
    Ticks,
    /// Linux's: the deviation term is the largest mean deviation of a round trip's worth of samples,
    /// never below the minimum RTO, and shrinks once a round trip (`tcp_rtt_estimator`; Sarolahti &
    /// Kuznetsov, "Congestion control in Linux TCP", USENIX 2002, §4.1).
    Linux,
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
    /// Which estimator smooths the round trips.
    pub estimation: RttEstimation,
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
            estimation: RttEstimation::Rfc6298,
            sampling: RttSampling::PerAcknowledgment,
            deviation_from: DeviationFrom::PreviousMean,
            back_off: true,
            scope: None,
        }
    }
}

//! The variables that can be sampled: one row each.

use std::fmt;
use std::str::FromStr;

use airtcp_link::mac::medium::AggregationView;
use airtcp_link::phy::Mode;
use airtcp_network::AirView;
use airtcp_remedies::suggestion::question;
use airtcp_tcp::Sender;
use airtcp_units::Duration;
use arrow_schema::DataType;

use super::Reading;
use crate::engine::Flow;

/// A probe's input: a flow, and the interval that ends now.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The flow.
    pub flow: &'a Flow,
    /// The state of its link.
    pub air: AirView,
    /// Bytes that have arrived since the previous sample, each counted once.
    pub fresh: u64,
    /// Time since the previous sample.
    pub interval: Duration,
}

impl Sight<'_> {
    fn sender(&self) -> &Sender {
        self.flow.client().sender()
    }
}

/// A row of the table of probes.
struct Row {
    /// The name as users write it.
    name: &'static str,
    /// The name of its column, which ends in the unit.
    column: &'static str,
    /// One-line description.
    meaning: &'static str,
    /// Whether its values are whole numbers rather than real ones.
    is_count: bool,
    read: fn(&Sight<'_>) -> Reading,
}

/// Declares the probes: name, column, kind, meaning, and reader.
macro_rules! probes {
    ($($name:literal $column:literal $kind:ident $meaning:literal = $read:expr;)+) => {
        static ROWS: &[Row] = &[$(Row {
            name: $name,
            column: $column,
            meaning: $meaning,
            is_count: probes!(@ $kind),
            read: $read,
        }),+];
    };
    (@ whole) => { true };
    (@ real) => { false };
}

probes! {
    "cwnd" "cwnd_bytes" whole
        "congestion window"
        = |sight| Reading::Count(sight.sender().cwnd());
    "ssthresh" "ssthresh_bytes" whole
        "slow-start threshold; null while unbounded"
        = |sight| count(sight.sender().ssthresh());
    "srtt" "srtt_ms" real
        "smoothed round-trip time; null before the first sample"
        = |sight| milliseconds(sight.sender().rtt().srtt());
    "rtt" "rtt_ms" real
        "last round-trip sample; null before the first"
        = |sight| milliseconds(sight.sender().rtt().latest());
    "rto" "rto_ms" real
        "retransmission timeout"
        = |sight| milliseconds(Some(sight.sender().rto()));
    "in_flight" "in_flight_bytes" whole
        "data sent and neither acknowledged nor taken for lost"
        = |sight| Reading::Count(sight.sender().in_flight());
    "queue" "queue_packets" whole
        "packets that wait for the link, of all flows"
        = |sight| Reading::Count(sight.air.queued);
    "retry_queue_1" "retry_queue_1_packets" whole
        "packets that failed once and wait for another turn (dynamic-arq)"
        = |sight| Reading::Count(sight.air.retries[0]);
    "retry_queue_2" "retry_queue_2_packets" whole
        "packets that failed twice and wait for another turn (dynamic-arq)"
        = |sight| Reading::Count(sight.air.retries[1]);
    "retry_queue_3" "retry_queue_3_packets" whole
        "packets that failed three times and wait for another turn (dynamic-arq)"
        = |sight| Reading::Count(sight.air.retries[2]);
    "snr" "snr_db" real
        "signal-to-noise ratio of the flow's mobile; null without a radio"
        = |sight| sight.air.snr_db.map_or(Reading::Missing, Reading::Real);
    "aggregate" "aggregate_frames" real
        "frames in an aggregate, mean since the start; null where frames are not aggregated"
        = |sight| aggregation(sight, |view| {
            view.counters.mpdus as f64 / view.counters.ppdus.max(1) as f64
        });
    "block_ack_window" "block_ack_window_frames" real
        "frames from the oldest unacknowledged one to the last; null where none are aggregated"
        = |sight| aggregation(sight, |view| view.window as f64);
    "airtime" "airtime_s" real
        "time for which the flow's way has kept the channel since the start; null as above"
        = |sight| aggregation(sight, |view| view.counters.airtime.as_secs_f64());
    "rate" "rate_bps" real
        "bit rate of the mode that the way's rate control takes for best; null as above"
        = |sight| mode(sight, |mode| mode.bit_rate().as_bps() as f64);
    "mode" "mode_mcs" real
        "modulation and coding scheme of that mode, within a stream; null as above"
        = |sight| mode(sight, |mode| f64::from(mode.index()));
    "mode_streams" "mode_streams" real
        "spatial streams of that mode; null as above"
        = |sight| mode(sight, |mode| f64::from(mode.streams()));
    "mode_success" "mode_success_probability" real
        "the rate control's estimate that a frame in that mode arrives; null where it makes none"
        = |sight| {
            let success = sight.air.aggregation.and_then(|view| view.success);
            success.map_or(Reading::Missing, Reading::Real)
        };
    "goodput" "goodput_bps" real
        "goodput since the sample before"
        = |sight| Reading::Real(sight.fresh as f64 * 8.0 / sight.interval.as_secs_f64());
    "delivered_bytes" "delivered_bytes" whole
        "bytes delivered to the receiving application since the start"
        = |sight| Reading::Count(sight.flow.delivered());
    "arrived_bytes" "arrived_bytes" whole
        "bytes that have arrived since the start, each counted once: delivered or behind a gap"
        = |sight| Reading::Count(sight.flow.arrived());
    "sent_bytes" "sent_bytes" whole
        "bytes of the stream that have been sent since the start, each counted once"
        = |sight| Reading::Count(sight.sender().nxt());
    "retransmitted" "retransmitted_segments" whole
        "segments sent since the start that repeat data sent before"
        = |sight| Reading::Count(sight.sender().counters().segments_retransmitted);
    "mac_retries" "mac_retries_frames" whole
        "attempts on a medium since the start beyond each packet's first"
        = |sight| {
            let tally = sight.flow.tally();
            Reading::Count(tally.attempts_on_air.saturating_sub(tally.packets_on_air).into())
        };
}

fn mode(sight: &Sight<'_>, value: fn(Mode) -> f64) -> Reading {
    let mode = sight.air.aggregation.and_then(|view| view.mode);
    mode.map_or(Reading::Missing, |mode| Reading::Real(value(mode)))
}

fn aggregation(sight: &Sight<'_>, value: fn(AggregationView) -> f64) -> Reading {
    let view = sight.air.aggregation;
    view.map_or(Reading::Missing, |view| Reading::Real(value(view)))
}

fn count(value: Option<u64>) -> Reading {
    value.map_or(Reading::Missing, Reading::Count)
}

fn milliseconds(value: Option<Duration>) -> Reading {
    value.map_or(Reading::Missing, |time| Reading::Real(time.as_millis_f64()))
}

/// A variable that is sampled at regular times.
#[derive(Clone, Copy)]
pub struct Probe(&'static Row);

impl Probe {
    /// All probes, in the order in which users see them.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        ROWS.iter().map(Self)
    }

    /// The name as users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The name of its column, which ends in the unit.
    #[must_use]
    pub const fn column(self) -> &'static str {
        self.0.column
    }

    /// One-line description.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        self.0.meaning
    }

    /// Whether its values are whole numbers rather than real ones.
    #[must_use]
    pub const fn is_count(self) -> bool {
        self.0.is_count
    }

    /// The type of its column.
    #[must_use]
    pub const fn data_type(self) -> DataType {
        if self.is_count() {
            DataType::UInt64
        } else {
            DataType::Float64
        }
    }

    /// Its value.
    #[must_use]
    pub fn read(self, sight: &Sight<'_>) -> Reading {
        (self.0.read)(sight)
    }
}

impl PartialEq for Probe {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Probe {}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Probe").field(&self.name()).finish()
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that belongs to no probe. Its text names the nearest probes, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeError(String);

impl ProbeError {
    // Never inlined: its checks of all the constant names otherwise become one condition, on which
    // LLVM's constraint elimination spends ten minutes of a release build.
    #[cold]
    #[inline(never)]
    fn unknown(text: &str, names: &[&str]) -> Self {
        let remedy = match question(text, names.iter().copied()) {
            none if none.is_empty() => format!("; there are {}", names.join(", ")),
            question => question,
        };
        let given: String = text.chars().take(40).collect();
        Self(format!("unknown probe {given:?}{remedy}"))
    }
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProbeError {}

impl FromStr for Probe {
    type Err = ProbeError;

    fn from_str(text: &str) -> Result<Self, ProbeError> {
        let found = Self::all().find(|probe| probe.name() == text);
        found.ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            ProbeError::unknown(text, &names)
        })
    }
}

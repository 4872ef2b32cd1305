//! Which variables can be watched.

use std::fmt;
use std::str::FromStr;

use airtcp_remedies::suggestion::question;
use arrow_schema::DataType;

/// A variable that is sampled at regular times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probe {
    /// Congestion window.
    Cwnd,
    /// Slow-start threshold; missing while unbounded.
    Ssthresh,
    /// Smoothed round-trip time; missing before the first sample.
    Srtt,
    /// Last round-trip sample; missing before the first.
    Rtt,
    /// Retransmission timeout.
    Rto,
    /// Data sent and neither acknowledged nor taken for lost.
    InFlight,
    /// Packets that wait for the link, of all flows.
    Queue,
    /// Packets that failed on the air and wait to be sent again, of all flows: those that were
    /// never sent again, in a retransmission order by deadline.
    RetryQueue1,
    /// The same: those that were sent again once in vain.
    RetryQueue2,
    /// The same: those that were sent again twice in vain.
    RetryQueue3,
    /// Signal-to-noise ratio between the flow's mobile and its access point; missing without a
    /// radio.
    Snr,
    /// Goodput since the sample before.
    Goodput,
    /// Bytes delivered to the receiving application since the start.
    DeliveredBytes,
}

impl Probe {
    /// All probes, in the order in which they are listed to users.
    pub const ALL: [Self; 13] = [
        Self::Cwnd,
        Self::Ssthresh,
        Self::Srtt,
        Self::Rtt,
        Self::Rto,
        Self::InFlight,
        Self::Queue,
        Self::RetryQueue1,
        Self::RetryQueue2,
        Self::RetryQueue3,
        Self::Snr,
        Self::Goodput,
        Self::DeliveredBytes,
    ];

    /// The name as users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cwnd => "cwnd",
            Self::Ssthresh => "ssthresh",
            Self::Srtt => "srtt",
            Self::Rtt => "rtt",
            Self::Rto => "rto",
            Self::InFlight => "in_flight",
            Self::Queue => "queue",
            Self::RetryQueue1 => "retry_queue_1",
            Self::RetryQueue2 => "retry_queue_2",
            Self::RetryQueue3 => "retry_queue_3",
            Self::Snr => "snr",
            Self::Goodput => "goodput",
            Self::DeliveredBytes => "delivered_bytes",
        }
    }

    /// The name of its column, which ends in the unit.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Cwnd => "cwnd_bytes",
            Self::Ssthresh => "ssthresh_bytes",
            Self::Srtt => "srtt_ms",
            Self::Rtt => "rtt_ms",
            Self::Rto => "rto_ms",
            Self::InFlight => "in_flight_bytes",
            Self::Queue => "queue_packets",
            Self::RetryQueue1 => "retry_queue_1_packets",
            Self::RetryQueue2 => "retry_queue_2_packets",
            Self::RetryQueue3 => "retry_queue_3_packets",
            Self::Snr => "snr_db",
            Self::Goodput => "goodput_bps",
            Self::DeliveredBytes => "delivered_bytes",
        }
    }

    /// What it is, in a line.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Cwnd => "congestion window",
            Self::Ssthresh => "slow-start threshold; null while unbounded",
            Self::Srtt => "smoothed round-trip time; null before the first sample",
            Self::Rtt => "last round-trip sample; null before the first",
            Self::Rto => "retransmission timeout",
            Self::InFlight => "data sent and neither acknowledged nor taken for lost",
            Self::Queue => "packets that wait for the link, of all flows",
            Self::RetryQueue1 => "packets that failed once and wait for another turn (dynamic-arq)",
            Self::RetryQueue2 => {
                "packets that failed twice and wait for another turn (dynamic-arq)"
            }
            Self::RetryQueue3 => {
                "packets that failed three times and wait for another turn (dynamic-arq)"
            }
            Self::Snr => "signal-to-noise ratio of the flow's mobile; null without a radio",
            Self::Goodput => "goodput since the sample before",
            Self::DeliveredBytes => "bytes delivered to the receiving application since the start",
        }
    }

    /// Whether its values are whole numbers; else they are real.
    pub const fn is_count(self) -> bool {
        match self {
            Self::Cwnd
            | Self::Ssthresh
            | Self::InFlight
            | Self::Queue
            | Self::RetryQueue1
            | Self::RetryQueue2
            | Self::RetryQueue3
            | Self::DeliveredBytes => true,
            Self::Srtt | Self::Rtt | Self::Rto | Self::Snr | Self::Goodput => false,
        }
    }

    /// The type of its column.
    pub const fn data_type(self) -> DataType {
        if self.is_count() {
            DataType::UInt64
        } else {
            DataType::Float64
        }
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no probe's. Its text names the nearest probes, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeError(String);

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProbeError {}

impl FromStr for Probe {
    type Err = ProbeError;

    fn from_str(text: &str) -> Result<Self, ProbeError> {
        Self::ALL
            .into_iter()
            .find(|probe| probe.name() == text)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name);
                let remedy = match question(text, names) {
                    none if none.is_empty() => format!("; there are {}", names.join(", ")),
                    question => question,
                };
                let given: String = text.chars().take(40).collect();
                ProbeError(format!("unknown probe {given:?}{remedy}"))
            })
    }
}

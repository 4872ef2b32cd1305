//! A one-line verdict on a flow, from its counts only.

use std::fmt;

use super::Flow;

/// Minimum number of bytes for a statement on the link.
const MIN_BYTES: u64 = 100_000;

/// Verdict on a flow from its counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Only one direction was captured.
    OneWay,
    /// Too little data for a statement on the link.
    Small,
    /// ACKs of data that was never captured, in percent of the ACKs.
    Gaps(f64),
    /// Nothing was retransmitted.
    NoRepeats {
        /// Number of times that the receiver closed its window.
        zero_windows: u64,
    },
    /// Some data was retransmitted.
    Repeats {
        /// In percent of the data's packets.
        percent: f64,
        /// Percentage of these that the receiver reported as duplicates by D-SACK.
        needless_percent: f64,
    },
}

impl Verdict {
    /// The verdict on a flow.
    #[must_use]
    pub fn of(flow: &Flow) -> Self {
        let (data, acks) = (flow.data(), flow.acks());
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        if !data.is_seen() || !acks.is_seen() {
            Self::OneWay
        } else if data.bytes < MIN_BYTES {
            Self::Small
        } else if percent(acks.acks_of_unseen, acks.packets) > 1.0 {
            Self::Gaps(percent(acks.acks_of_unseen, acks.packets))
        } else if data.repeats == 0 {
            Self::NoRepeats {
                zero_windows: acks.zero_windows,
            }
        } else {
            let duplicates = acks.duplicates_reported.min(data.repeats);
            Self::Repeats {
                percent: percent(data.repeats, data.data_packets),
                needless_percent: percent(duplicates, data.repeats),
            }
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneWay => f.write_str("only one direction was captured"),
            Self::Small => f.write_str("too little data to say anything about the link"),
            Self::Gaps(percent) => {
                write!(f, "{percent:.0} % of the ACKs are of data that is not here")
            }
            Self::NoRepeats { zero_windows: 0 } => f.write_str("nothing repeated"),
            Self::NoRepeats { zero_windows } => write!(
                f,
                "nothing repeated, but the receiver closed its window {zero_windows} times"
            ),
            Self::Repeats {
                percent,
                needless_percent,
            } => {
                write!(f, "{percent:.2} % repeated")?;
                if *needless_percent >= 1.0 {
                    write!(f, ", {needless_percent:.0} % of that needless")?;
                }
                Ok(())
            }
        }
    }
}

//! A recorded series of round-trip times, without the times of sending.

use super::{Source, TraceError, TraceProblem};
use airtcp_units::Duration;
use std::io::Read;

/// Round-trip times in the order in which the probes were sent. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RttSeries {
    rtts: Vec<Duration>,
    lost: u64,
    median: Duration,
}

/// Summary of an [`RttSeries`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttSummary {
    /// Probes answered.
    pub count: usize,
    /// Probes not answered.
    pub lost: u64,
    /// Shortest round-trip time.
    pub min: Duration,
    /// Half of the round-trip times are not above, half not below.
    pub median: Duration,
    /// Longest round-trip time.
    pub max: Duration,
    /// Autocorrelation of successive round-trip times, from -1 to 1; `None` if they do not vary.
    pub lag1_autocorrelation: Option<f64>,
}

const EXPECTED: &str = "a recording of probes, such as the output of \"ping\"";

impl RttSeries {
    /// The series of these round-trip times; `lost` further probes were not answered. `None` when
    /// `rtts` is empty.
    pub fn new(rtts: Vec<Duration>, lost: u64) -> Option<Self> {
        let median = median(&rtts)?;
        Some(Self { rtts, lost, median })
    }

    /// Reads a log of at most [`super::MAX_BYTES`]; `name` identifies it in errors.
    ///
    /// The formats are the members of [`airtcp_recording::FORMATS`] with round trips.
    ///
    /// Errors: unreadable, too large, empty, no round-trip time in it, or one that is negative, not
    /// a number or above an hour.
    pub fn read(reader: impl Read, name: &str) -> Result<Self, TraceError> {
        let bytes = Source::new(name).read_all(reader)?;
        Self::parse(&bytes, name)
    }

    /// Reads a log that is in memory; otherwise as [`Self::read`].
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, TraceError> {
        let recording = airtcp_recording::parse(bytes, name)?;
        let probes = recording.probes.as_ref().and_then(|log| {
            let rtts = log.replies().iter().map(|reply| reply.round_trip);
            Self::new(rtts.collect(), log.lost())
        });
        probes.ok_or_else(|| {
            let problem = match recording.probes {
                Some(_) => TraceProblem::NoRoundTrip { expected: EXPECTED },
                None => TraceProblem::OtherKind {
                    what: format!(
                        "{}, which has no round trip of each packet",
                        recording.summary
                    ),
                    remedy: format!("for its link: airtcp import {name} -o link.toml"),
                },
            };
            Source::new(name).error(None, problem)
        })
    }

    /// The round-trip times, in the order in which the probes were sent.
    pub fn as_slice(&self) -> &[Duration] {
        &self.rtts
    }

    /// Round-trip time number `index`; after the last the series repeats.
    #[inline]
    pub fn wrapping(&self, index: u64) -> Duration {
        self.rtts[(index % self.rtts.len() as u64) as usize]
    }

    /// The median round trip.
    pub fn median(&self) -> Duration {
        self.median
    }

    /// Count, losses, quartile points and autocorrelation.
    pub fn summary(&self) -> RttSummary {
        let of_all = |choose: fn(Duration, Duration) -> Duration| {
            self.rtts.iter().copied().fold(self.rtts[0], choose)
        };
        RttSummary {
            count: self.rtts.len(),
            lost: self.lost,
            min: of_all(Duration::min),
            median: self.median,
            max: of_all(Duration::max),
            lag1_autocorrelation: lag1_autocorrelation(&self.rtts),
        }
    }
}

/// The middle of them, or halfway between the two middle ones; `None` for an empty list.
fn median(rtts: &[Duration]) -> Option<Duration> {
    let mut sorted = rtts.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().checked_sub(1)?;
    let (below, above) = (sorted[last / 2], sorted[sorted.len() / 2]);
    Some(below + (above - below) / 2)
}

/// The usual estimate: covariance of neighbours over variance, both about the mean of all.
fn lag1_autocorrelation(rtts: &[Duration]) -> Option<f64> {
    let ms: Vec<f64> = rtts.iter().map(|rtt| rtt.as_millis_f64()).collect();
    let mean = ms.iter().sum::<f64>() / ms.len() as f64;
    let squares: f64 = ms.iter().map(|x| (x - mean) * (x - mean)).sum();
    let products: f64 = ms
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    (squares > 0.0 && rtts.iter().any(|rtt| *rtt != rtts[0])).then(|| products / squares)
}

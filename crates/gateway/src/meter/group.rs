//! A group of connections: treated, or control.

use serde::Serialize;

use super::connection::Summary;
use super::difference::{Differences, Sample, Samples};

/// Connections of one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    connections: u64,
    segments: u64,
    again: u64,
    duplicates: u64,
    bytes: u64,
    /// Acknowledged bytes in measured time, and the byte-weighted sum of the goodputs.
    measured_bytes: u64,
    goodput_of_bytes: f64,
    samples: Samples,
}

/// Statistics of a group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupNumbers {
    /// Number of connections.
    pub connections: u64,
    /// Number of stations, by address.
    pub stations: u64,
    /// The geometric mean of the connections' goodputs, in bits a second, with equal weights.
    pub goodput_bps: Option<f64>,
    /// The byte-weighted mean of the goodputs, in bits a second: that of the large transfers.
    pub goodput_by_bytes_bps: Option<f64>,
    /// Acknowledged bytes.
    pub bytes: u64,
    /// Their share of the bytes of both groups, 0 to 1.
    pub share_of_bytes: Option<f64>,
    /// The mean of their smoothed round trips, in milliseconds.
    pub round_trip_ms: Option<f64>,
    /// Segments with data.
    pub segments: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Duplicates reported by receivers.
    pub dsacks: u64,
}

impl Group {
    /// Adds a connection, unless it has no data.
    pub(super) fn add(&mut self, one: &Summary) {
        if one.segments == 0 {
            return;
        }
        self.connections += 1;
        self.segments += one.segments;
        self.again += one.again;
        self.duplicates += one.duplicates;
        self.bytes += one.bytes;
        if let Some(goodput) = one.goodput_bps {
            self.measured_bytes += one.bytes;
            self.goodput_of_bytes += one.bytes as f64 * goodput;
        }
        self.samples.add(&one.sample());
    }

    /// The statistics of the group with `stations` stations, relative to `other`.
    pub fn numbers(&self, stations: u64, other: &Self) -> GroupNumbers {
        let means = self.samples.means();
        let all = self.bytes + other.bytes;
        GroupNumbers {
            connections: self.connections,
            stations,
            goodput_bps: means.log_goodput.map(f64::exp),
            goodput_by_bytes_bps: (self.measured_bytes > 0)
                .then(|| self.goodput_of_bytes / self.measured_bytes as f64),
            bytes: self.bytes,
            share_of_bytes: (all > 0).then(|| self.bytes as f64 / all as f64),
            round_trip_ms: means.round_trip_ms,
            segments: self.segments,
            retransmissions: self.again,
            dsacks: self.duplicates,
        }
    }

    /// Compares this group with another, by connection.
    pub fn compared_with(&self, control: &Self) -> Differences {
        Differences::between(&self.samples, &control.samples)
    }

    /// The means over its connections; `None` without any.
    pub(super) fn means(&self) -> Option<Sample> {
        (self.connections > 0).then(|| self.samples.means())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(goodputs: &[f64]) -> Group {
        let mut group = Group::default();
        for &goodput_bps in goodputs {
            group.add(&Summary {
                goodput_bps: Some(goodput_bps),
                round_trip_ms: Some(goodput_bps / 10.0),
                bytes: goodput_bps as u64,
                segments: 1000,
                again: 3,
                duplicates: 1,
            });
        }
        group
    }

    /// scipy.stats.ttest_ind of the logarithms of these rates with equal_var=False: 0.356495 to
    /// 0.765348.
    #[test]
    fn the_interval_is_welchs() {
        let treated = group(&[100.0, 120.0, 90.0, 110.0]);
        let control = group(&[50.0, 70.0, 55.0, 60.0, 65.0]);
        let found = treated.compared_with(&control).goodput.unwrap();
        let near = |one: f64, other: f64| ((one + 1.0).ln() - other).abs() < 1e-5;
        assert!(
            near(found.low, 0.356_495) && near(found.high, 0.765_348),
            "{found:?}"
        );
        assert!(found.is_shown());
        let same = treated
            .compared_with(&control)
            .retransmissions_per_1000
            .unwrap();
        assert_eq!((same.difference, same.low, same.high), (0.0, 0.0, 0.0));
        assert!(!same.is_shown());
    }

    /// A single connection in a group has no interval. One mean is geometric over connections, the
    /// other weighted by bytes.
    #[test]
    fn too_few_are_not_compared_and_bytes_have_a_mean_of_their_own() {
        assert_eq!(
            group(&[1.0]).compared_with(&group(&[1.0, 2.0])).goodput,
            None
        );
        let (ours, theirs) = (group(&[4.0, 9.0]), group(&[13.0]));
        let numbers = ours.numbers(1, &theirs);
        assert!((numbers.goodput_bps.unwrap() - 6.0).abs() < 1e-9);
        let by_bytes = (4.0 * 4.0 + 9.0 * 9.0) / 13.0;
        assert!((numbers.goodput_by_bytes_bps.unwrap() - by_bytes).abs() < 1e-9);
        assert_eq!((numbers.bytes, numbers.share_of_bytes), (13, Some(0.5)));
        assert_eq!(
            (numbers.segments, numbers.retransmissions, numbers.dsacks),
            (2000, 6, 2)
        );
    }
}

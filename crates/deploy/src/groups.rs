//! Comparison of treated connections with the others, with a confidence interval.

use airtcp_host::difference::{Difference, Moments};
use serde::Serialize;

use crate::connections::Connection;

/// Minimum busy time of a compared connection, in microseconds: shorter ones carry little
/// information.
const MIN_BUSY_US: u64 = 100_000;

/// A group of connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Group {
    /// All connections.
    pub connections: usize,
    /// Connections that sent for long enough to be compared.
    pub compared: usize,
    /// Their geometric mean rate while they had data to send, in bits a second.
    pub rate_bps: f64,
    /// Retransmitted segments as a share of all data segments.
    pub retransmitted_share: f64,
    #[serde(skip)]
    logarithms: Moments,
}

/// The treated group's rate as a ratio to the control group's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio of the geometric means.
    pub ratio: f64,
    /// The lower bound of its 95 % interval.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Group {
    /// Builds the group of these connections.
    pub fn new<'a>(connections: impl Iterator<Item = &'a Connection>) -> Self {
        let mut group = Self::default();
        let (mut sent, mut repeated) = (0_u64, 0_u64);
        for one in connections {
            group.connections += 1;
            sent += u64::from(one.data_segments);
            repeated += u64::from(one.retransmissions);
            if one.busy_us < MIN_BUSY_US || one.acknowledged == 0 {
                continue;
            }
            let rate = one.acknowledged as f64 * 8e6 / one.busy_us as f64;
            group.logarithms.add(rate.ln());
            group.compared += 1;
        }
        if let Some(mean) = group.logarithms.mean() {
            group.rate_bps = mean.exp();
        }
        if sent > 0 {
            group.retransmitted_share = repeated as f64 / sent as f64;
        }
        group
    }

    /// Compares this group's rate with another's. Rates span powers of ten, so their logarithms are
    /// compared, by Welch's interval (Biometrika 34, 1947). `None` with fewer than two in a group.
    pub fn compared_with(&self, control: &Self) -> Option<Ratio> {
        let found = Difference::welch(self.logarithms, control.logarithms)?;
        Some(Ratio {
            ratio: found.difference.exp(),
            low: found.low.exp(),
            high: found.high.exp(),
        })
    }
}

impl Ratio {
    /// The group in a sentence.
    pub fn text(&self) -> String {
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        let interval = format!(
            "{:+.1} % ({:+.1} to {:+.1} %, 95 %)",
            percent(self.ratio),
            percent(self.low),
            percent(self.high)
        );
        if self.low <= 1.0 && 1.0 <= self.high {
            format!("no difference shown: treated {interval}")
        } else if self.ratio > 1.0 {
            format!("treated connections are faster: {interval}")
        } else {
            format!("treated connections are slower: {interval}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections that were busy for a second at these rates in bytes a second.
    fn group(rates: &[u64]) -> Group {
        let connections: Vec<_> = rates
            .iter()
            .map(|&rate| Connection {
                acknowledged: rate,
                busy_us: 1_000_000,
                data_segments: 100,
                retransmissions: 1,
                ..Connection::default()
            })
            .collect();
        Group::new(connections.iter())
    }

    /// scipy.stats.ttest_ind of the rates' logarithms with equal_var=False gives 6.768 degrees of
    /// freedom and the interval 0.356495 to 0.765348.
    #[test]
    fn the_interval_is_welchs() {
        let ratio = group(&[100, 120, 90, 110])
            .compared_with(&group(&[50, 70, 55, 60, 65]))
            .unwrap();
        let near = |one: f64, other: f64| (one - other).abs() < 1e-5;
        assert!(
            near(ratio.low.ln(), 0.356_495),
            "{ratio:?} {}",
            ratio.low.ln()
        );
        assert!(
            near(ratio.high.ln(), 0.765_348),
            "{ratio:?} {}",
            ratio.high.ln()
        );
        assert!(ratio.text().contains("faster"), "{}", ratio.text());
    }

    #[test]
    fn groups_alike_show_no_difference() {
        let one = group(&[100, 200, 150, 120]);
        let ratio = one.compared_with(&group(&[110, 190, 140, 130])).unwrap();
        assert!(
            ratio.text().starts_with("no difference shown"),
            "{}",
            ratio.text()
        );
        assert!((one.retransmitted_share - 0.01).abs() < 1e-12);
    }

    #[test]
    fn too_few_are_not_compared() {
        assert_eq!(group(&[1]).compared_with(&group(&[1, 2, 3])), None);
        let idle = Connection::default();
        let group = Group::new([&idle].into_iter());
        assert_eq!((group.connections, group.compared), (1, 0));
    }
}

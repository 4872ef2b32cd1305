//! Round trips in clusters (Srinivasan §3.4): k-means over the most recent ones. Clusters that
//! differ by about the link's retransmission delay are classes of retransmissions, and their offset
//! is subtracted; a small cluster is a transient, hidden from the estimator. The thesis names a
//! library, but neither k nor the rules; they are ours and stated here.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use airtcp_units::Duration;

use crate::config::RttClustering;

/// Regroupings while all samples are replaced.
const REGROUPINGS: usize = 4;
const ITERATIONS: usize = 20;
/// How near a distance must be to a multiple of the link's delay: within 1/4 of that delay.
const NEAR: u64 = 4;

/// The treatment of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filtered {
    /// Pass this to the estimator.
    Sample(Duration),
    /// Hide it from the estimator.
    Transient,
}

#[derive(Clone, Copy, Debug)]
struct Cluster {
    centre: u64,
    members: usize,
}

/// The last round trips, in nanoseconds, and their clusters, shortest first.
#[derive(Clone, Debug)]
pub struct RttClusters {
    link_delay: u64,
    most_clusters: usize,
    most_samples: usize,
    transient: usize,
    samples: VecDeque<u64>,
    since: usize,
    clusters: Vec<Cluster>,
}

impl RttClusters {
    /// Creates the filter without samples.
    pub fn new(config: RttClustering) -> Self {
        Self {
            link_delay: config.link_delay.as_nanos().max(1),
            most_clusters: config.most.max(1) as usize,
            most_samples: config.samples.max(1) as usize,
            transient: config.transient as usize,
            samples: VecDeque::new(),
            since: 0,
            clusters: Vec::new(),
        }
    }

    /// Sets the approximate time that a link retransmission takes.
    pub fn set_link_delay(&mut self, link_delay: Duration) {
        self.link_delay = link_delay.as_nanos().max(1);
    }

    /// Decides the treatment of a round trip.
    pub fn filter(&mut self, rtt: Duration) -> Filtered {
        let sample = rtt.as_nanos();
        if self.samples.len() == self.most_samples {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
        self.since += 1;
        if self.since >= self.most_samples.div_ceil(REGROUPINGS) {
            self.since = 0;
            self.clusters = cluster(&self.samples, self.link_delay, self.most_clusters);
        }
        let (Some(base), Some(nearest)) = (
            self.clusters
                .iter()
                .find(|one| one.members > self.transient),
            self.clusters
                .iter()
                .min_by_key(|one| one.centre.abs_diff(sample)),
        ) else {
            return Filtered::Sample(rtt);
        };
        // Far from all clusters, or near a small one.
        if nearest.members <= self.transient
            || nearest.centre.abs_diff(sample) > 2 * self.link_delay
        {
            return Filtered::Transient;
        }
        let apart = nearest.centre.saturating_sub(base.centre);
        let times = (apart + self.link_delay / 2) / self.link_delay;
        let is_class =
            times > 0 && apart.abs_diff(times * self.link_delay) <= self.link_delay / NEAR;
        let offset = if is_class { apart } else { 0 };
        Filtered::Sample(Duration::from_nanos(sample.saturating_sub(offset).max(1)))
    }
}

/// The minimum number of clusters, from one to `most`, that leaves every sample within a quarter of
/// the link's delay of its centre; `most` if no number does.
fn cluster(samples: &VecDeque<u64>, link_delay: u64, most: usize) -> Vec<Cluster> {
    let mut sorted: Vec<_> = samples.iter().copied().collect();
    sorted.sort_unstable();
    let mut found = Vec::new();
    for count in 1..=most {
        found = k_means(&sorted, count);
        let fits = sorted.iter().all(|&sample| {
            found
                .iter()
                .any(|one| one.centre.abs_diff(sample) <= link_delay / NEAR)
        });
        if fits {
            break;
        }
    }
    found
}

/// Lloyd's algorithm in one dimension, started with centres evenly spaced between the extremes.
fn k_means(sorted: &[u64], count: usize) -> Vec<Cluster> {
    let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
        return Vec::new();
    };
    let steps = (count as u64).saturating_sub(1).max(1);
    let mut centres: Vec<u64> = (0..count as u64)
        .map(|index| first + (last - first) / steps * index)
        .collect();
    let mut clusters = Vec::new();
    for _ in 0..ITERATIONS {
        let mut sums = vec![(0_u128, 0_usize); count];
        for &sample in sorted {
            let nearest = (0..count)
                .min_by_key(|&index| centres[index].abs_diff(sample))
                .unwrap_or(0);
            sums[nearest].0 += u128::from(sample);
            sums[nearest].1 += 1;
        }
        let before = centres.clone();
        for (centre, (sum, members)) in centres.iter_mut().zip(&sums) {
            if *members > 0 {
                *centre = u64::try_from(sum / *members as u128).unwrap_or(u64::MAX);
            }
        }
        clusters = centres
            .iter()
            .zip(&sums)
            .filter(|(_, (_, members))| *members > 0)
            .map(|(&centre, &(_, members))| Cluster { centre, members })
            .collect();
        if centres == before {
            break;
        }
    }
    clusters
}

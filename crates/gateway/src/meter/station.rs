//! Comparison by station: a station's connections share its radio, its queue and its distance, so
//! that each carries less information than one of another station would.

use std::net::IpAddr;
use std::num::NonZeroUsize;

use lru::LruCache;
use serde::Serialize;

use super::connection::Summary;
use super::difference::{Differences, Samples};
use super::group::Group;

/// Maximum number of tracked stations: some 500 bytes each.
const MAX: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Index of a group: the control group, then the treated.
pub(super) const fn index(is_treated: bool) -> usize {
    is_treated as usize
}

/// Connections of a station: of the control group, and treated.
type Station = [Group; 2];

/// The sums over stations from which differences follow.
#[derive(Clone, Debug, Default)]
struct Sums {
    stations: [u64; 2],
    /// Means of stations: with control connections, and with treated ones.
    means: [Samples; 2],
    /// Differences within stations that have both.
    pairs: Samples,
    paired: u64,
}

/// The comparison with a station as its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ByStation {
    /// Stations with both treated and control connections.
    pub paired: u64,
    /// Whether the differences were taken within stations rather than between them.
    pub is_within: bool,
    /// The differences.
    #[serde(flatten)]
    pub difference: Differences,
}

/// Stations, by the mobiles' addresses.
#[derive(Debug)]
pub struct Stations {
    known: LruCache<IpAddr, Station>,
    /// Totals of evicted stations.
    evicted: Sums,
}

impl Default for Stations {
    fn default() -> Self {
        Self {
            known: LruCache::new(MAX),
            evicted: Sums::default(),
        }
    }
}

impl Stations {
    /// Adds a connection that has ended.
    pub(super) fn add(&mut self, address: IpAddr, is_treated: bool, one: &Summary) {
        if let Some(station) = self.known.get_mut(&address) {
            station[index(is_treated)].add(one);
            return;
        }
        let mut station = Station::default();
        station[index(is_treated)].add(one);
        if let Some((_, forgotten)) = self.known.push(address, station) {
            self.evicted.add(&forgotten);
        }
    }

    /// The comparison by station, including active connections, and the number of stations with
    /// connections in each group.
    pub(super) fn compare(
        &self,
        living: impl Iterator<Item = (IpAddr, bool, Summary)>,
    ) -> (ByStation, [u64; 2]) {
        let mut all = Self {
            known: self.known.clone(),
            evicted: self.evicted.clone(),
        };
        for (address, is_treated, one) in living {
            all.add(address, is_treated, &one);
        }
        let mut sums = all.evicted;
        // In order of use, which does not depend on the keys.
        for (_, station) in &all.known {
            sums.add(station);
        }
        (sums.compare(), sums.stations)
    }
}

impl Sums {
    fn add(&mut self, station: &Station) {
        let means = [station[0].means(), station[1].means()];
        for (group, mean) in means.iter().enumerate() {
            if let Some(mean) = mean {
                self.stations[group] += 1;
                self.means[group].add(mean);
            }
        }
        if let [Some(control), Some(treated)] = means {
            self.paired += 1;
            self.pairs.add(&treated.less(&control));
        }
    }

    /// Within stations if two or more have both groups: their common properties cancel in the
    /// difference. Otherwise between stations.
    fn compare(&self) -> ByStation {
        let is_within = self.paired >= 2;
        ByStation {
            paired: self.paired,
            is_within,
            difference: if is_within {
                Differences::within(&self.pairs)
            } else {
                Differences::between(&self.means[1], &self.means[0])
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn summary(goodput_bps: f64) -> Summary {
        Summary {
            goodput_bps: Some(goodput_bps),
            round_trip_ms: None,
            bytes: 1000,
            segments: 10,
            again: 0,
            duplicates: 0,
        }
    }

    fn station(number: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, number).into()
    }

    /// Stations of 1, 10 and 100 Mbit/s, each a tenth slower where treated: the difference between
    /// connections is lost in that between stations, within stations it is exact.
    #[test]
    fn what_stations_have_in_common_falls_out() {
        let (mut stations, mut groups) = (Stations::default(), Station::default());
        for (number, rate) in [(1, 1e6), (2, 1e7), (3, 1e8)] {
            for _ in 0..5 {
                stations.add(station(number), false, &summary(rate));
                stations.add(station(number), true, &summary(0.9 * rate));
                groups[0].add(&summary(rate));
                groups[1].add(&summary(0.9 * rate));
            }
        }
        let by_connection = groups[1].compared_with(&groups[0]).goodput.unwrap();
        assert!(!by_connection.is_shown(), "{by_connection:?}");
        let (found, counts) = stations.compare(std::iter::empty());
        let goodput = found.difference.goodput.unwrap();
        assert!(found.is_within && goodput.is_shown(), "{found:?}");
        assert!((goodput.difference + 0.1).abs() < 1e-9, "{goodput:?}");
        assert_eq!((found.paired, counts), (3, [3, 3]));
    }

    /// A station with a hundred connections counts once, and active connections count.
    #[test]
    fn a_busy_station_is_one_station() {
        let mut stations = Stations::default();
        for _ in 0..100 {
            stations.add(station(1), true, &summary(1e6));
        }
        stations.add(station(2), false, &summary(2e6));
        let living = [
            (station(3), true, summary(3e6)),
            (station(4), false, summary(4e6)),
        ];
        let (found, counts) = stations.compare(living.into_iter());
        assert_eq!((found.paired, found.is_within, counts), (0, false, [2, 2]));
        let goodput = found.difference.goodput.unwrap();
        let expected = (3.0_f64 / 8.0).sqrt() - 1.0;
        assert!((goodput.difference - expected).abs() < 1e-9, "{goodput:?}");
    }

    /// More stations than are tracked still count, each once.
    #[test]
    fn stations_are_bounded() {
        let mut stations = Stations::default();
        for number in 0..10_000_u32 {
            let address = Ipv4Addr::from_bits(0x0a00_0000 + number).into();
            stations.add(address, number % 2 == 0, &summary(1e6));
        }
        assert_eq!(stations.known.len(), MAX.get());
        let (_, counts) = stations.compare(std::iter::empty());
        assert_eq!(counts, [5000, 5000]);
    }
}

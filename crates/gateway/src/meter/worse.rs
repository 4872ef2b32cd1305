//! An anytime-valid test of whether the treated connections are slower: it may be evaluated after
//! every connection, with a total error of at most 5 %.
//!
//! It bets on the coins that assigned the connections to groups. A connection's goodput is ranked
//! among its predecessors; only then is its group revealed. If treatment changes nothing, the coin
//! is independent of the rank, so that
//!
//! ```text
//!   wealth ← wealth · (1 + stake · (coin − chance) · score / most)
//! ```
//!
//! has a constant expectation, for any goodputs and any dependence between connections,
//! and the probability that it ever grows to 1 / α is at most α (Ville's inequality; Shafer,
//! "Testing by betting", J. R. Stat. Soc. A 184, 2021; Waudby-Smith and Ramdas, "Estimating means
//! of bounded random variables by betting", J. R. Stat. Soc. B 86, 2024). The score is positive for
//! slower connections, so that the wealth grows if the treated are slower, and shrinks if they are
//! faster. The stakes are mixed: the wealth is the mean over several of them.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::num::NonZeroUsize;

use lru::LruCache;
use serde::Serialize;

use crate::packets::packet_view::Assignment;

/// Wealth at which the treated count as worse: 1 / 5 %.
const ENOUGH: f64 = 20.0;
/// Stakes, as shares of the maximum loss in one bet.
const STAKES: [f64; 6] = [0.1, 0.25, 0.4, 0.55, 0.7, 0.85];
/// Number of earlier goodputs that rank a new one, and the minimum number from its station to use
/// only these.
const RECENT: usize = 32;
const FEWEST: usize = 4;
/// Connections of a station after which it is bet on as a whole.
const OF_A_STATION: u32 = 4;
/// Maximum number of tracked stations.
const STATIONS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// The evidence so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The wealth: 1 at the start.
    pub wealth: f64,
    /// The wealth at which the treated count as worse, with 95 %.
    pub enough: f64,
    /// Bets so far: of connections, or of stations where those are assigned.
    pub bets: u64,
}

impl Evidence {
    /// Whether the treated are worse, with 95 %.
    pub fn is_enough(&self) -> bool {
        self.wealth >= self.enough
    }
}

/// The test.
#[derive(Debug)]
pub struct Worse {
    wealth: [f64; STAKES.len()],
    bets: u64,
    /// The largest wealth so far: later bets do not remove evidence.
    peak: f64,
    all: Ranks,
    stations: LruCache<IpAddr, Station>,
    /// Whether a station was evicted. On its return its coin would be bet on twice.
    has_forgotten: bool,
}

#[derive(Debug, Default)]
struct Station {
    ranks: Ranks,
    /// Sum of the scores of its connections, and their number, until it is bet on as a whole.
    scores: f64,
    connections: u32,
}

/// Recent logarithms of goodputs.
#[derive(Debug, Default)]
struct Ranks(VecDeque<f64>);

impl Default for Worse {
    fn default() -> Self {
        Self {
            wealth: [1.0; STAKES.len()],
            bets: 0,
            peak: 1.0,
            all: Ranks::default(),
            stations: LruCache::new(STATIONS),
            has_forgotten: false,
        }
    }
}

impl Worse {
    /// Processes the goodput of a connection, as a logarithm, once.
    pub fn see(&mut self, address: IpAddr, assignment: Assignment, log_goodput: f64) {
        if !self.stations.contains(&address)
            && self.stations.push(address, Station::default()).is_some()
        {
            self.has_forgotten = true;
        }
        let Some(station) = self.stations.get_mut(&address) else {
            return;
        };
        let score = station
            .ranks
            .score(log_goodput)
            .filter(|_| !assignment.is_by_station)
            .or_else(|| self.all.score(log_goodput));
        station.ranks.add(log_goodput);
        self.all.add(log_goodput);
        let Some(score) = score else {
            return;
        };
        if !assignment.is_by_station {
            self.bet(assignment, score);
            return;
        }
        station.scores += score;
        station.connections += 1;
        if station.connections == OF_A_STATION && !self.has_forgotten {
            let mean = station.scores / f64::from(OF_A_STATION);
            self.bet(assignment, mean);
        }
    }

    /// The evidence so far.
    pub const fn evidence(&self) -> Evidence {
        Evidence {
            wealth: self.peak,
            enough: ENOUGH,
            bets: self.bets,
        }
    }

    fn bet(&mut self, assignment: Assignment, score: f64) {
        let chance = assignment.chance;
        let most = chance.max(1.0 - chance);
        let coin = f64::from(u8::from(assignment.is_treated)) - chance;
        for (wealth, stake) in self.wealth.iter_mut().zip(STAKES) {
            *wealth *= 1.0 + stake * coin * score / most;
        }
        self.bets += 1;
        let mean = self.wealth.iter().sum::<f64>() / STAKES.len() as f64;
        self.peak = self.peak.max(mean);
    }
}

impl Ranks {
    /// From -1 for the fastest to 1 for the slowest; `None` with too few predecessors.
    fn score(&self, value: f64) -> Option<f64> {
        if self.0.len() < FEWEST {
            return None;
        }
        let above = self.0.iter().filter(|other| **other > value).count() as f64;
        let below = self.0.iter().filter(|other| **other < value).count() as f64;
        Some((above - below) / self.0.len() as f64)
    }

    fn add(&mut self, value: f64) {
        if self.0.len() == RECENT {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use airtcp_link::Stream;

    use super::*;

    /// Number of connections until the treated count as worse, of at most `most`; they have
    /// `factor` times the goodput. Stations differ by powers of ten, and their connections by a
    /// factor of about two.
    fn bets_until_enough(
        seed: u64,
        chance: f64,
        is_by_station: bool,
        factor: f64,
        most: u64,
    ) -> Option<u64> {
        let draws = Stream::new(seed, "worse.test");
        let uniform = |index: u64| draws.draw(index) as f64 / 2_f64.powi(64);
        let stations = if is_by_station { most / 4 } else { 5 };
        let mut worse = Worse::default();
        for number in 0..most {
            let station = number % stations;
            let coin = if is_by_station { station } else { number };
            let is_treated = uniform(3 * coin) < chance;
            let spread = (uniform(3 * number + 1) + uniform(3 * number + 2) - 1.0) * 1.7;
            let own = uniform(1_000_003 * (station + 1)) * if is_by_station { 1.0 } else { 7.0 };
            let log_goodput = 14.0 + own + spread + if is_treated { factor.ln() } else { 0.0 };
            let address = Ipv4Addr::from_bits(0x0a00_0000 + station as u32).into();
            let assignment = Assignment {
                is_treated,
                chance,
                is_by_station,
            };
            worse.see(address, assignment, log_goodput);
            if worse.evidence().is_enough() {
                return Some(number);
            }
        }
        None
    }

    /// Evaluated after each of 2000 connections it stops at most 5 % of the trials in which the
    /// groups are alike (of 400, 20 and four standard deviations of 4.4), and of those in which the
    /// treated are faster.
    #[test]
    fn looks_after_each_connection_keep_the_error() {
        for (chance, is_by_station, factor) in [
            (0.5, false, 1.0),
            (0.2, false, 1.0),
            (0.5, true, 1.0),
            (0.5, false, 1.2),
        ] {
            let ended = (0..400)
                .filter(|&seed| {
                    bets_until_enough(seed, chance, is_by_station, factor, 2000).is_some()
                })
                .count();
            assert!(
                ended <= 37,
                "{chance} {is_by_station} {factor}: {ended} of 400"
            );
        }
    }

    /// Treated at half the goodput are detected within some hundred connections, for any rates of
    /// the stations.
    #[test]
    fn harm_is_found() {
        for chance in [0.5, 0.2] {
            let mut found: Vec<_> = (0..50)
                .filter_map(|seed| bets_until_enough(seed, chance, false, 0.5, 3000))
                .collect();
            found.sort_unstable();
            assert_eq!(found.len(), 50, "{chance}");
            eprintln!("chance {chance}: {} connections (median)", found[25]);
            assert!(found[25] < 400, "{chance}: {}", found[25]);
        }
        let by_station = (0..50)
            .filter(|&seed| bets_until_enough(seed, 0.5, true, 0.5, 2000).is_some())
            .count();
        assert!(by_station >= 45, "{by_station} of 50");
    }
}

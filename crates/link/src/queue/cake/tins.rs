//! CAKE's tins: classes of traffic by code point, each with a share of the rate (Linux,
//! `net/sched/sch_cake.c`, `cake_config_diffserv3` and the like).

use airtcp_units::{BitRate, Duration};

use super::cobalt::Limits;

/// The classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tins {
    /// A single class.
    BestEffort,
    /// Background, best effort, and latency-sensitive traffic. CAKE's default.
    #[default]
    Diffserv3,
    /// Background, best effort, video, and voice.
    Diffserv4,
}

/// A tin's share of the rate, and of the turns if there is no rate: 1 over this.
const SHARES_3: [u32; 3] = [1, 16, 4];
const SHARES_4: [u32; 4] = [1, 16, 2, 4];

/// Bytes of a turn at the weight of 1.
const QUANTUM: u32 = 1024;
/// The bounds of a flow's turn in bytes, and how much of a rate in bytes a second it is
/// (`cake_set_rate`). Packets are counted without their Ethernet header.
const MIN_FLOW_QUANTUM: u64 = 300;
const RATE_FRACTION: u64 = 4096;

/// Parameters of one tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tin {
    /// Its share of the rate; `None` without a rate.
    pub rate: Option<BitRate>,
    /// Bytes that it sends in its turn, if there is no rate.
    pub quantum: i64,
    /// Bytes that one of its flows sends in its turn.
    pub flow_quantum: u64,
    pub limits: Limits,
}

impl Tins {
    const fn shares(self) -> &'static [u32] {
        match self {
            Self::BestEffort => &[1],
            Self::Diffserv3 => &SHARES_3,
            Self::Diffserv4 => &SHARES_4,
        }
    }

    /// The tin of a code point, from 0 to 63 (`diffserv3[]` and `diffserv4[]`).
    pub(super) const fn of(self, code_point: u8) -> usize {
        // LE, CS1, and TOS4, LLT's "La", VA, EF, CS6, CS7 by their numbers.
        match (self, code_point) {
            (Self::BestEffort, _) => 0,
            (_, 1 | 8) => 1,
            (Self::Diffserv3, 4 | 44 | 46 | 48 | 56) => 2,
            (Self::Diffserv3, _) => 0,
            (Self::Diffserv4, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            (Self::Diffserv4, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            (Self::Diffserv4, _) => 0,
        }
    }

    /// The tins of a total `rate`.
    pub(super) fn at(
        self,
        rate: Option<BitRate>,
        target: Duration,
        interval: Duration,
        largest_packet: u32,
    ) -> impl Iterator<Item = Tin> {
        self.shares().iter().map(move |&share| {
            let rate =
                rate.map(|rate| BitRate::from_bps((rate.as_bps() / u64::from(share)).max(1)));
            let packet_time = rate.map_or(Duration::ZERO, |rate| {
                rate.transmission_time(u64::from(largest_packet))
            });
            // `cake_set_rate`: slow tins get longer targets.
            let longer = (packet_time * 3 / 2).max(target);
            Tin {
                rate,
                quantum: i64::from(QUANTUM / share),
                flow_quantum: rate.map_or(u64::from(largest_packet), |rate| {
                    (rate.as_bps() / 8 / RATE_FRACTION)
                        .min(u64::from(largest_packet))
                        .max(MIN_FLOW_QUANTUM)
                }),
                limits: Limits {
                    target: longer,
                    interval: (interval + (longer - target)).max(longer * 2),
                    packet_time,
                },
            }
        })
    }
}

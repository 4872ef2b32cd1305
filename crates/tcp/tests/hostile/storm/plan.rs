//! A storm as plain data, drawn from a seed.

use airtcp_tcp::config::{CongestionControl, Retransmission};
use airtcp_tcp::{Config, Profile};
use airtcp_units::Duration;

use super::super::harness::choices;
use super::super::harness::source::{Source, bytes_of_seed};

const CONGESTION_CONTROLS: [CongestionControl; 24] = [
    CongestionControl::Reno,
    CongestionControl::Cubic,
    CongestionControl::Westwood,
    CongestionControl::Veno,
    CongestionControl::Vegas,
    CongestionControl::Jersey,
    CongestionControl::Bbr,
    CongestionControl::BbrV3,
    CongestionControl::Copa,
    CongestionControl::Vivace,
    CongestionControl::ProteusP,
    CongestionControl::ProteusS,
    CongestionControl::Verus,
    CongestionControl::Illinois,
    CongestionControl::Hybla,
    CongestionControl::HTcp,
    CongestionControl::Yeah,
    CongestionControl::Cdg,
    CongestionControl::Dctcp,
    CongestionControl::Abc,
    CongestionControl::Sprout,
    CongestionControl::C2Tcp,
    CongestionControl::Prague,
    CongestionControl::Ledbat,
];

/// The faults of a storm, each as a share of 256 packets.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    pub lose: u64,
    pub duplicate: u64,
    pub delay: u64,
    /// The longest that a packet is held back.
    pub most_delay: Duration,
    /// Packets with one bit of the options flipped.
    pub flip: u64,
}

/// Everything that decides a run.
#[derive(Clone, Debug)]
pub struct StormPlan {
    pub seed: u64,
    pub profiles: [Profile; 2],
    pub configs: [Config; 2],
    /// One-way delay.
    pub delay: Duration,
    /// Bytes that the first end writes at once, and the pause between.
    pub write: (u64, Duration),
    pub weather: Weather,
}

impl StormPlan {
    pub fn of_seed(seed: u64) -> Self {
        let bytes = bytes_of_seed(seed ^ 0x5704_0000_0000);
        let source = &mut Source::new(&bytes);
        let weather = Weather {
            lose: source.pick(&[20, 0, 5, 60, 100, 150]),
            duplicate: source.pick(&[60, 0, 10, 150]),
            delay: source.pick(&[60, 0, 10, 200]),
            most_delay: Duration::from_millis(source.pick(&[1000, 100, 10_000, 60_000])),
            flip: source.pick(&[60, 0, 10, 200]),
        };
        let delay = Duration::from_millis(source.pick(&[10, 50, 150]));
        let write = (
            source.between(500, 20_000),
            Duration::from_millis(source.pick(&[100, 1000, 20])),
        );
        // Half are stacks as users have them, with any congestion control.
        let mut ends = [(); 2].map(|()| {
            if source.one_in(2) {
                choices::config(source)
            } else {
                let profile = source.pick(&Profile::ALL);
                let mut config = profile.config();
                config.pacing = source.one_in(2);
                config.timestamps = source.one_in(2);
                (profile, config)
            }
        });
        if source.one_in(2) {
            ends[0].1.congestion = source.pick(&CONGESTION_CONTROLS);
        }
        let both_sack = source.one_in(2);
        for (_, config) in &mut ends {
            config.sack |= both_sack;
            config.receive_buffer = config.receive_buffer.min(400_000);
        }
        Self {
            seed,
            profiles: ends.map(|(profile, _)| profile),
            configs: ends.map(|(_, config)| config),
            delay,
            write,
            weather,
        }
    }

    /// Why slowness is honest, if it is: one end can hold so little, or a timeout repairs one
    /// segment by its rule, so that each costs a timer. Proteus-S yields to round trips that vary:
    /// at its lowest rate, of two segments a round trip, the timer sends each acknowledgment of
    /// more.
    pub fn may_be_slow(&self) -> Option<&'static str> {
        let few = |config: &Config| {
            config.receive_buffer < 4 * u64::from(config.mss)
                || config.max_window.is_some_and(|segments| segments < 4)
        };
        if self.configs.iter().any(few) {
            Some("small, and slow")
        } else if self.configs[0].retransmission == Retransmission::SelectiveRepeat {
            Some("a segment a timeout, and slow")
        } else if self.configs[0].congestion == CongestionControl::ProteusS
            && self.configs[1].delayed_ack.segments > 2
        {
            Some("a scavenger of delayed acknowledgments, and slow")
        } else {
            None
        }
    }

    /// How long the sender remembers the storm by its rule: LEDBAT takes the least delay of ten
    /// minutes for the path's (RFC 6817 §2.4.2, `BASE_HISTORY`), and a report with a flipped bit
    /// that covers data not yet arrived makes that too short.
    pub fn remembers(&self) -> Duration {
        if self.configs[0].congestion == CongestionControl::Ledbat {
            Duration::from_secs(600)
        } else {
            Duration::ZERO
        }
    }

    /// Whether the sender keeps a round trip for good that the path never had: Proteus holds its
    /// window to the least one of the connection, as its authors' code does, and a report with a
    /// flipped bit makes that too short. In a window of four segments probes of 5 % show nothing.
    pub fn is_misled_by(&self, least: Option<Duration>) -> bool {
        let holds = matches!(
            self.configs[0].congestion,
            CongestionControl::ProteusP | CongestionControl::ProteusS
        );
        holds && least.is_some_and(|least| least < self.delay * 2)
    }

    pub fn describe(&self) -> String {
        let mut text = format!(
            "{:?}, {:?} each way, writes {:?}\n",
            self.weather, self.delay, self.write
        );
        for end in 0..2 {
            text += &super::super::hunt::differences(self.profiles[end], &self.configs[end], end);
        }
        text
    }
}

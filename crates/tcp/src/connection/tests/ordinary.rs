//! The short way of an ordinary segment against the general one: each endpoint has a twin that
//! never takes the short way, is told the same, and must know and say the same after every segment.

use proptest::prelude::*;

use super::*;
use crate::config::Profile;

/// An endpoint and its twin.
struct Twins {
    short: Connection,
    general: Connection,
    events: [Vec<Event>; 2],
}

impl Twins {
    fn new(connection: Connection) -> Self {
        let mut general = connection.clone();
        general.ways.general_only = true;
        Self {
            short: connection,
            general,
            events: [Vec::new(), Vec::new()],
        }
    }

    /// Does the same with both; what they answer, and all they know then, must be the same.
    fn both<T: PartialEq + std::fmt::Debug>(
        &mut self,
        mut act: impl FnMut(&mut Connection, &mut Vec<Event>) -> T,
    ) -> T {
        let short = act(&mut self.short, &mut self.events[0]);
        let general = act(&mut self.general, &mut self.events[1]);
        assert_eq!(short, general);
        assert_eq!(self.events[0], self.events[1]);
        let mut known = self.short.clone();
        known.ways = self.general.ways;
        assert_eq!(format!("{known:?}"), format!("{:?}", self.general));
        short
    }
}

/// What happens to the packets, one after the other, again and again.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives,
    IsLost,
    ArrivesTwice,
    ArrivesLate(u8),
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        30 => Just(Fate::Arrives),
        1 => Just(Fate::IsLost),
        1 => Just(Fate::ArrivesTwice),
        1 => (1_u8..60).prop_map(Fate::ArrivesLate),
    ];
    prop::collection::vec(fate, 1..200)
}

#[derive(Clone, Debug)]
struct Plan {
    profile: Profile,
    config: Config,
    bytes: [u64; 2],
    /// Most bytes that the application reads at a time.
    reads: u64,
    fates: Vec<Fate>,
}

fn plans() -> impl Strategy<Value = Plan> {
    (
        prop::sample::select(Profile::ALL.to_vec()),
        (1_u32..4, any::<bool>(), any::<bool>(), 3_000_u64..60_000),
        (1_u64..200_000, prop_oneof![Just(0_u64), 1_u64..50_000]),
        prop_oneof![Just(u64::MAX), 1_u64..20_000],
        fates(),
    )
        .prop_map(
            |(profile, (segments, stamps, small, buffer), bytes, reads, fates)| {
                let mut config = profile.config();
                config.delayed_ack.segments = segments;
                config.timestamps &= stamps;
                if small {
                    config.receive_buffer = buffer;
                }
                Plan {
                    profile,
                    config,
                    bytes: bytes.into(),
                    reads,
                    fates,
                }
            },
        )
}

/// Plays a plan; returns how many segments were taken, and of these how many the short way.
fn play(plan: &Plan) -> (u64, u64) {
    let mut ends = [
        Twins::new(Connection::connect(&plan.config, OURS)),
        Twins::new(Connection::listen(&plan.config, PEERS)),
    ];
    for (end, &bytes) in ends.iter_mut().zip(&plan.bytes) {
        // An endpoint that never writes has no sender.
        if bytes > 0 {
            end.both(|connection, _| connection.write(bytes));
        }
    }
    let mut fates = plan.fates.iter().copied().cycle();
    let mut way: Vec<(Instant, usize, Segment)> = Vec::new();
    let (mut now, mut taken) = (Instant::ZERO, 0);
    for _ in 0..2_000 {
        for from in 0..2 {
            ends[from].both(|connection, _| connection.read(plan.reads));
            while let Some(segment) = ends[from].both(|connection, _| connection.poll(now)) {
                let arrival = now + milliseconds(20);
                let copies = match fates.next().expect("a cycle") {
                    Fate::Arrives => vec![arrival],
                    Fate::IsLost => vec![],
                    Fate::ArrivesTwice => vec![arrival, arrival + milliseconds(3)],
                    Fate::ArrivesLate(late) => vec![arrival + milliseconds(late.into())],
                };
                way.extend(copies.into_iter().map(|at| (at, 1 - from, segment)));
            }
        }
        let wakeups = ends.iter().map(|end| end.short.next_wakeup());
        let Some(next) = way.iter().map(|&(at, ..)| at).chain(wakeups).min() else {
            break;
        };
        if next == Instant::FAR_FUTURE {
            break;
        }
        now = next.max(now);
        let (due, later) = way.into_iter().partition(|&(at, ..)| at <= now);
        way = later;
        let due: Vec<(Instant, usize, Segment)> = due;
        for (_, to, segment) in due {
            taken += 1;
            ends[to].both(|connection, events| {
                connection.handle(now, &segment, &mut |_, event| events.push(event));
            });
        }
        for end in &mut ends {
            end.both(|connection, events| {
                connection.on_wakeup(now, &mut |_, event| events.push(event));
            });
        }
    }
    let short = ends.iter().map(|end| end.short.ways.short).sum();
    (taken, short)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Whatever happens on the way, and in all profiles.
    #[test]
    fn the_short_way_and_the_general_one_are_the_same(plan in plans()) {
        play(&plan);
    }
}

/// Or the comparison would compare nothing: of an upload without loss nearly all segments are
/// ordinary, and behind a loss the others.
#[test]
fn most_segments_are_ordinary() {
    for profile in [
        Profile::NewReno,
        Profile::Sack,
        Profile::Linux,
        Profile::LinuxBbr,
    ] {
        let mut fates = vec![Fate::Arrives; 400];
        let plan = |fates| Plan {
            profile,
            config: profile.config(),
            bytes: [1_000_000, 0],
            reads: u64::MAX,
            fates,
        };
        let (taken, short) = play(&plan(fates.clone()));
        assert!(taken > 1_000, "{profile:?}: {taken}");
        assert!(short * 100 > taken * 97, "{profile:?}: {short} of {taken}");
        fates[200] = Fate::IsLost;
        let (taken, short) = play(&plan(fates));
        assert!(short * 100 > taken * 10, "{profile:?}: {short} of {taken}");
        assert!(short < taken, "{profile:?}: all of {taken}");
    }
}

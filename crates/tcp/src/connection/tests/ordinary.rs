//! The fast path for an ordinary segment compared with the general one: each endpoint has a twin
//! that never takes the fast path, gets the same input, and must have the same state and output
//! after every segment.

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

    /// Performs the same on both; their answers and their complete state must be the same.
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

/// The fates of the packets, in order, cyclically.
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
    config: Config,
    bytes: [u64; 2],
    /// Most bytes that the application reads at a time.
    reads: u64,
    fates: Vec<Fate>,
}

fn plans() -> impl Strategy<Value = Plan> {
    (
        prop::sample::select(Profile::ALL.to_vec()),
        (
            1_u32..4,
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            3_000_u64..60_000,
        ),
        (1_u64..200_000, prop_oneof![Just(0_u64), 1_u64..50_000]),
        prop_oneof![Just(u64::MAX), 1_u64..20_000],
        fates(),
    )
        .prop_map(
            |(profile, (segments, stamps, sack, small, buffer), bytes, reads, fates)| {
                let mut config = profile.config();
                config.delayed_ack.segments = segments;
                config.timestamps &= stamps;
                config.sack &= sack;
                if small {
                    config.receive_buffer = buffer;
                }
                Plan {
                    config,
                    bytes: bytes.into(),
                    reads,
                    fates,
                }
            },
        )
}

/// Two endpoints, and the segments in flight between them.
struct Path<'a> {
    ends: [Twins; 2],
    reads: u64,
    fates: std::iter::Cycle<std::slice::Iter<'a, Fate>>,
    /// Arrival time and destination of each.
    way: Vec<(Instant, usize, Segment)>,
}

impl<'a> Path<'a> {
    fn new(plan: &'a Plan) -> Self {
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
        Self {
            ends,
            reads: plan.reads,
            fates: plan.fates.iter().cycle(),
            way: Vec::new(),
        }
    }

    /// Lets the application read, and the endpoint send.
    fn drain(&mut self, now: Instant, from: usize) {
        let end = &mut self.ends[from];
        end.both(|connection, _| connection.read(self.reads));
        while let Some(segment) = end.both(|connection, _| connection.poll(now)) {
            let arrival = now + milliseconds(20);
            let copies = match *self.fates.next().expect("a cycle") {
                Fate::Arrives => vec![arrival],
                Fate::IsLost => vec![],
                Fate::ArrivesTwice => vec![arrival, arrival + milliseconds(3)],
                Fate::ArrivesLate(late) => vec![arrival + milliseconds(late.into())],
            };
            let copies = copies.into_iter().map(|at| (at, 1 - from, segment));
            self.way.extend(copies);
        }
    }

    /// Time of the next event.
    fn next(&self) -> Option<Instant> {
        let wakeups = self.ends.iter().map(|end| end.short.next_wakeup());
        let arrivals = self.way.iter().map(|&(at, ..)| at);
        let next = arrivals.chain(wakeups).min();
        next.filter(|&next| next < Instant::FAR_FUTURE)
    }

    /// Processes everything due at `now`; returns the number of segments that arrived.
    fn advance(&mut self, now: Instant) -> u64 {
        let due = self.way.extract_if(.., |&mut (at, ..)| at <= now);
        let due: Vec<_> = due.collect();
        for (_, to, segment) in &due {
            self.ends[*to].both(|connection, events| {
                connection.handle(now, segment, &mut |_, event| events.push(event));
            });
            self.drain(now, *to);
        }
        for end in 0..2 {
            self.ends[end].both(|connection, events| {
                connection.on_wakeup(now, &mut |_, event| events.push(event));
            });
            self.drain(now, end);
        }
        due.len() as u64
    }
}

/// Plays a plan; returns how many segments were accepted, and how many of them took the fast path.
fn play(plan: &Plan) -> (u64, u64) {
    let mut path = Path::new(plan);
    let (mut now, mut taken) = (Instant::ZERO, 0);
    path.drain(now, 0);
    for _ in 0..2_000 {
        let Some(next) = path.next() else {
            break;
        };
        now = next.max(now);
        taken += path.advance(now);
    }
    let short = path.ends.iter().map(|end| end.short.ways.short).sum();
    (taken, short)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Whatever happens on the path, and in all profiles.
    #[test]
    fn the_short_way_and_the_general_one_are_the_same(plan in plans()) {
        play(&plan);
    }
}

/// Otherwise the comparison would be empty: in an upload without loss nearly all segments are
/// ordinary, and after a loss the others follow.
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

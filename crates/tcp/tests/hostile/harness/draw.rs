//! Builds a plan from arbitrary bytes.

use airtcp_tcp::Config;
use airtcp_units::{Duration, Instant};

use super::choices;
use super::plan::{
    Acknowledges, Application, Forgery, Kind, Mangling, MarkRule, Operation, Place, Plan, Report,
    Stamps, Step, Treatment, WindowRule,
};
use super::source::Source;

/// Ticks after which a timestamp is older than any that a connection without a long pause may hold.
const LONG_AGO: u64 = 1 << 24;

/// The most steps a plan has.
const MAX_STEPS: usize = 60;

impl Plan {
    /// Builds the plan that these bytes encode: any bytes encode one.
    pub fn new(source: &mut Source<'_>) -> Self {
        let lethal = source.one_in(8);
        let both_open = source.one_in(16);
        let ipv6 = source.one_in(4);
        let drawn = [choices::config(source), choices::config(source)];
        let configs = drawn.map(|(_, config)| config);
        let delay =
            |source: &mut Source<'_>| Duration::from_millis(source.pick(&[10, 0, 1, 30, 100, 300]));
        let mut plan = Self {
            profiles: drawn.map(|(profile, _)| profile),
            configs,
            applications: [0, 1].map(|end| application(source, &configs, end)),
            initial_numbers: [initial_number(source), initial_number(source)],
            start: start(source, &configs[0]),
            delays: [delay(source), delay(source)],
            ipv6,
            both_open,
            lethal,
            steps: Vec::new(),
        };
        while !source.is_empty() && plan.steps.len() < MAX_STEPS {
            let after = source.below(24);
            let operation = operation(source);
            plan.steps.push(Step { after, operation });
        }
        plan
    }
}

fn application(source: &mut Source<'_>, configs: &[Config; 2], end: usize) -> Application {
    let bytes = match source.below(6) {
        0 => 60_000,
        1 => 0,
        2 => source.below(3000),
        3 => 300_000,
        _ => source.below(60_000),
    };
    // A buffer of 300 bytes takes a round trip for each.
    let bytes = bytes.min(configs[1 - end].receive_buffer * 60);
    let write = match source.below(3) {
        0 => (bytes.max(1), Duration::ZERO),
        1 => (
            source.between(100, 20_000),
            Duration::from_millis(source.below(30)),
        ),
        _ => (
            source.between(20, 3000),
            Duration::from_millis(source.below(8)),
        ),
    };
    let read = match source.below(4) {
        0 | 1 => (u64::MAX, Duration::ZERO),
        2 => (
            source.between(500, 4000),
            Duration::from_millis(source.between(1, 60)),
        ),
        _ => (u64::MAX, Duration::from_millis(source.between(1, 3000))),
    };
    let close_after = Duration::from_millis(source.pick(&[0, 0, 500, 4000]));
    Application {
        bytes,
        write,
        read,
        close_after,
    }
}

fn initial_number(source: &mut Source<'_>) -> u32 {
    match source.below(4) {
        0 => 0xffff_fc00,
        1 => 0x7fff_ff00,
        2 => u32::MAX,
        _ => source.below(1 << 32) as u32,
    }
}

/// Zero, or shortly before the timestamp clock wraps or changes its sign.
fn start(source: &mut Source<'_>, config: &Config) -> Instant {
    let ticks = match source.below(3) {
        0 => return Instant::ZERO,
        1 => 1_u64 << 32,
        _ => 1 << 31,
    };
    let before = source.below(3000);
    Instant::from_nanos((ticks - before) * config.timestamp_tick.as_nanos())
}

fn operation(source: &mut Source<'_>) -> Operation {
    let end = source.below(2) as usize;
    match source.below(17) {
        0..=4 => Operation::Treat {
            to: end,
            count: source.between(1, 9),
            treatment: treatment(source),
        },
        5 | 6 => Operation::Treat {
            to: end,
            count: source.between(1, 200),
            treatment: Treatment::Window {
                rule: window_rule(source),
            },
        },
        7 => Operation::Replay {
            to: end,
            back: source.below(60) as usize,
            first: source.one_in(8),
            copies: source.between(1, 5),
        },
        8..=12 => Operation::Forge {
            to: end,
            forgery: forgery(source),
            copies: source.pick(&[1, 1, 3, 20]),
        },
        13 => {
            if source.one_in(2) {
                Operation::Thaw { end }
            } else {
                Operation::Freeze { end }
            }
        }
        14 => match source.below(3) {
            0 => Operation::NoDelay {
                end,
                on: source.one_in(2),
            },
            1 => Operation::LinkReport {
                end,
                delivered: None,
            },
            _ => Operation::LinkReport {
                end,
                delivered: Some((source.below(20_000) as u32, source.below(8) as u32)),
            },
        },
        15 => Operation::Treat {
            to: end,
            count: source.between(1, 200),
            treatment: Treatment::Mark {
                rule: mark_rule(source),
            },
        },
        _ if source.one_in(8) => Operation::Abort {
            end,
            release: source.one_in(2),
        },
        _ => Operation::Silence {
            seconds: source.pick(&[1, 3, 100, 86_400, 25 * 86_400, 50 * 86_400]),
        },
    }
}

fn treatment(source: &mut Source<'_>) -> Treatment {
    match source.below(10) {
        0..=2 => Treatment::Lose,
        3 => Treatment::Delay {
            by: Duration::from_millis(source.below(1500)),
        },
        4 => Treatment::Duplicate {
            later: Duration::from_millis(source.below(1500)),
        },
        5 => Treatment::Flip {
            bit: source.below(1 << 16),
        },
        6 => Treatment::Cut {
            keep: source.below(1 << 11),
        },
        7 => Treatment::Window {
            rule: window_rule(source),
        },
        _ => Treatment::Mangle {
            mangling: mangling(source),
        },
    }
}

fn mangling(source: &mut Source<'_>) -> Mangling {
    match source.below(7) {
        0 => Mangling::Pad {
            bytes: source.between(1, 12) as usize,
        },
        1 => Mangling::Unknown {
            bytes: source.between(2, 12) as u8,
        },
        2 => Mangling::Malformed {
            length: source.pick(&[0, 1, 41, 255]),
        },
        3 => Mangling::EndAtOnce,
        4 => Mangling::UrgentAndEcn {
            pointer: source.below(1 << 16) as u16,
        },
        5 => Mangling::StripFromSyn {
            kind: source.pick(&[2, 3, 4, 8]),
        },
        _ => Mangling::Mss {
            value: source.pick(&[536, 100, 48, 47, 65_535, 0, 1]),
        },
    }
}

fn window_rule(source: &mut Source<'_>) -> WindowRule {
    match source.below(5) {
        0 => WindowRule::ShutBefore,
        1 => WindowRule::Zero,
        2 => WindowRule::Shrink {
            shift: source.between(1, 16) as u32,
        },
        3 => WindowRule::AtMost {
            field: source.below(1 << 16) as u16,
        },
        _ => WindowRule::ShutAfter,
    }
}

fn mark_rule(source: &mut Source<'_>) -> MarkRule {
    match source.below(4) {
        0 | 1 => MarkRule::Congested,
        2 => MarkRule::Field {
            bits: source.below(4) as u8,
        },
        _ => MarkRule::Flags {
            ece: source.one_in(2),
            cwr: source.one_in(2),
        },
    }
}

fn forgery(source: &mut Source<'_>) -> Forgery {
    let kind = match source.below(9) {
        0..=2 => Kind::Bare,
        3 | 4 => Kind::Data {
            bytes: source.between(1, 3000) as u16,
            fin: source.one_in(4),
        },
        5 | 6 => Kind::Reset {
            ack: source.one_in(2),
        },
        7 => Kind::Syn {
            ack: source.one_in(2),
        },
        _ => Kind::Anything {
            flags: source.byte(),
            bytes: source.below(3000) as u16,
        },
    };
    let place = match source.below(5) {
        0 | 1 => Place::Exact,
        2 => Place::Inside(source.between(1, 60_000) as u16),
        3 => Place::Below(source.between(1, 1 << 30) as u32),
        _ => Place::Beyond(source.between(1, 1 << 29) as u32),
    };
    let acknowledges = match source.below(7) {
        0 | 1 => Acknowledges::Right,
        2 => Acknowledges::Old(source.between(1, 60_000) as u16),
        3 | 4 => Acknowledges::TooOld(source.between(1, 1 << 29) as u32),
        5 => Acknowledges::Ahead(source.between(1, 1 << 29) as u32),
        _ => Acknowledges::Optimistic,
    };
    let stamps = match source.below(6) {
        0..=2 => Stamps::Right,
        3 => Stamps::Old(source.between(LONG_AGO, 1 << 30) as u32),
        4 => Stamps::Jumped(source.between(1, 1 << 31) as u32),
        _ => Stamps::Missing,
    };
    let report = match source.below(10) {
        0..=4 => Report::Nothing,
        5 => Report::Outstanding,
        6 => Report::Duplicate(source.between(1, 3000) as u16),
        7 => Report::Unsent,
        8 => Report::Inverted,
        _ => Report::Ladder(source.between(1, 3000) as u16),
    };
    Forgery {
        kind,
        place,
        acknowledges,
        stamps,
        window_shift: source.pick(&[0, 0, 1, 4, 16]),
        report,
        marks: source.pick(&[0, 0, 0x40, 0x80, 0xc3, 0x03]),
    }
}

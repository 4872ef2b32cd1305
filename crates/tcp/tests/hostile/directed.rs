//! Attacks that a random plan meets too rarely, on every profile.

use std::collections::VecDeque;

use airtcp_tcp::config::EcnUse;
use airtcp_tcp::{Config, Profile};
use airtcp_units::{Duration, Instant};

use super::harness::plan::{
    Acknowledges, Application, Forgery, Kind, MarkRule, Operation, Place, Plan, Report, Stamps,
    Step, Treatment, WindowRule,
};
use super::harness::{Outcome, World, run};

/// A plan in which one endpoint writes `bytes` undisturbed.
fn transfer(profile: Profile, change: impl Fn(&mut Config), bytes: u64) -> Plan {
    let mut config = profile.config();
    change(&mut config);
    let application = |bytes| Application {
        bytes,
        write: (u64::MAX, Duration::ZERO),
        read: (u64::MAX, Duration::ZERO),
        close_after: Duration::ZERO,
    };
    Plan {
        profiles: [profile; 2],
        configs: [config; 2],
        applications: [application(bytes), application(0)],
        initial_numbers: [0xffff_0000, 17],
        start: Instant::ZERO,
        delays: [Duration::from_millis(10); 2],
        ipv6: false,
        both_open: false,
        lethal: false,
        steps: Vec::new(),
    }
}

/// 5 GiB in segments of 60 000 bytes: sequence numbers wrap twice. A segment delayed by exactly one
/// wrap is old by its timestamp (RFC 7323 §5.3), and no byte of it is accepted.
fn a_stream_wraps(profile: Profile) {
    const WRAP: u64 = 1 << 32;
    let bytes = 5 << 30;
    let plan = transfer(
        profile,
        |config| {
            config.mss = 60_000;
            config.receive_buffer = 64 << 20;
            config.timestamps = true;
            config.max_window = None;
        },
        bytes,
    );
    let mut world = World::new(&plan);
    world.begin();
    let (mut old, mut replayed) = (VecDeque::new(), 0);
    while let Some(next) = world.next_instant() {
        if world.is_done() {
            break;
        }
        world.advance(next);
        world.check();
        // Kept: the first data packets, in order.
        if let Some(packet) = world.history[1].back()
            && let Some((start, end)) = packet.piece
            && end < 60_000_000
            && old.back().is_none_or(|&(_, known, _)| known <= start)
        {
            old.push_back((start, end, packet.clone()));
        }
        let expected = world.ends[1].connection.receiver().next_expected();
        if let Some((start, end, packet)) = old.front().cloned()
            && start + WRAP <= expected
        {
            old.pop_front();
            world.deliver(&packet);
            world.check();
            let now = world.ends[1].connection.receiver().next_expected();
            assert_eq!(now, expected, "bytes {start}..{end} came a wrap late");
            replayed += u64::from(expected < end + WRAP);
        }
    }
    assert!(
        replayed > 0,
        "no segment came a wrap late and in the window"
    );
    let outcome = world.conclude();
    assert_eq!(outcome.delivered, bytes);
    assert!(
        outcome.sent <= bytes + bytes / 100,
        "{} bytes sent",
        outcome.sent
    );
}

#[test]
fn a_newreno_stream_of_5_gib_wraps_twice() {
    a_stream_wraps(Profile::NewReno);
}

#[test]
fn a_linux_stream_of_5_gib_wraps_twice() {
    a_stream_wraps(Profile::Linux);
}

/// Subjects every window announced to end 0 to `rule`, for the whole transfer.
fn under(rule: WindowRule, profile: Profile, pacing: bool, bytes: u64) -> Outcome {
    let mut plan = transfer(profile, |config| config.pacing |= pacing, bytes);
    let operation = Operation::Treat {
        to: 0,
        count: 100,
        treatment: Treatment::Window { rule },
    };
    plan.steps = vec![
        Step {
            after: 100,
            operation
        };
        400
    ];
    run(&plan)
}

/// Every packet of a connection with ECN is marked: each mark reduces the window, and nothing is
/// retransmitted.
#[test]
fn marks_cost_no_retransmission() {
    const BYTES: u64 = 300_000;
    for profile in Profile::ALL {
        let plan = transfer(profile, |config| config.ecn = EcnUse::Request, BYTES);
        let mut world = World::new(&plan);
        let rule = MarkRule::Congested;
        world.treatments[1].push((u64::MAX, Treatment::Mark { rule }));
        world.begin();
        while world.ends[1].read < BYTES
            && let Some(next) = world.next_instant()
        {
            world.advance(next);
            world.check();
        }
        let (name, sender) = (profile.name(), world.ends[0].connection.sender());
        assert_eq!(world.ends[1].read, BYTES, "{name}");
        assert!(sender.reductions_for_marks() > 1, "{name}");
        assert_eq!(sender.counters().segments_retransmitted, 0, "{name}");
    }
}

/// A window of one segment takes a round trip for each: longer than the limit on stalls.
#[test]
fn a_window_of_one_segment_takes_its_time() {
    let mut plan = transfer(
        Profile::LinuxReno,
        |config| {
            config.max_window = Some(1);
            config.mss = 100;
        },
        300_000,
    );
    plan.delays = [Duration::from_millis(300); 2];
    assert_eq!(run(&plan).delivered, 300_000);
}

/// After 25 days any timestamp is believed (RFC 7323 §5.5), even that of a packet which cannot be
/// alive any more, and which is therefore not replayed.
#[test]
fn no_packet_comes_back_after_25_days() {
    let silence = Step {
        after: 12,
        operation: Operation::Silence {
            seconds: 25 * 86_400,
        },
    };
    let replay = |after| Step {
        after,
        operation: Operation::Replay {
            to: 0,
            // The last is the other end's FIN, which leaves when the silence is over.
            back: 1,
            first: false,
            copies: 1,
        },
    };
    for after in 1..40 {
        let mut plan = transfer(Profile::Linux, |_| {}, 60_000);
        plan.applications[0].write = (600, Duration::from_millis(1));
        plan.steps = vec![silence, replay(after)];
        assert_eq!(run(&plan).delivered, 60_000, "{after}");
    }
}

/// A SYN-ACK offers one byte, unscaled (RFC 7323 §2.2). A forged segment that repeats the field
/// would offer 256 of them, and nothing distinguishes it from the peer's: a forged window here
/// never exceeds the peer's, and no byte is sent that the peer has no room for.
#[test]
fn the_window_of_a_syn_is_not_forged_into_a_scaled_one() {
    let shrink = Step {
        after: 0,
        operation: Operation::Treat {
            to: 0,
            count: 1,
            treatment: Treatment::Window {
                rule: WindowRule::Shrink { shift: 15 },
            },
        },
    };
    let forgery = Forgery {
        kind: Kind::Bare,
        place: Place::Exact,
        acknowledges: Acknowledges::Right,
        stamps: Stamps::Right,
        window_shift: 0,
        report: Report::Nothing,
        marks: 0,
    };
    let mut forged = 0;
    for after in 1..12 {
        let mut plan = transfer(Profile::Linux, |_| {}, 300_000);
        let operation = Operation::Forge {
            to: 0,
            forgery,
            copies: 1,
        };
        plan.steps = vec![shrink, Step { after, operation }];
        let outcome = run(&plan);
        assert_eq!(outcome.delivered, 300_000, "{after}");
        forged += outcome.performed.get("forged acknowledgment").unwrap_or(&0);
    }
    assert!(forged > 0, "nothing was forged to synchronized ends");
}

/// Twenty copies of one forged acknowledgment of everything: the first ends a connection in
/// LAST-ACK, and each of the others, which belong to no connection, is answered with a reset.
#[test]
fn a_closed_end_resets_every_copy() {
    let forgery = Forgery {
        kind: Kind::Bare,
        place: Place::Exact,
        acknowledges: Acknowledges::Optimistic,
        stamps: Stamps::Right,
        window_shift: 0,
        report: Report::Nothing,
        marks: 0,
    };
    for after in 4..12 {
        let mut plan = transfer(Profile::Linux, |_| {}, 0);
        plan.lethal = true;
        plan.applications[1].close_after = Duration::from_millis(500);
        let operation = Operation::Forge {
            to: 1,
            forgery,
            copies: 20,
        };
        plan.steps = vec![Step { after, operation }];
        run(&plan);
    }
}

/// A window that closes and reopens with every acknowledgment is no reason to send anything twice:
/// the data in flight still arrives.
#[test]
fn a_flapping_window_costs_nothing() {
    const BYTES: u64 = 12_000_000;
    for profile in Profile::ALL {
        for pacing in [false, true] {
            for rule in [WindowRule::ShutBefore, WindowRule::ShutAfter] {
                let outcome = under(rule, profile, pacing, BYTES);
                let (name, sent) = (profile.name(), outcome.sent);
                assert!(
                    sent <= 3 * BYTES,
                    "{name}, pacing {pacing}, {rule:?}: {sent} bytes sent"
                );
            }
        }
    }
}

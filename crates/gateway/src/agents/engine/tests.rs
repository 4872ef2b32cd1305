//! The engine compared with the agent it contains, and given arbitrary packets.

use airtcp_link::agent::delay_injection::{AdaptiveDelay, DelayRule};
use airtcp_link::agent::{DelayInjection, FlowKey};
use airtcp_packet::{Flags, SequenceNumber, Timestamps};
use airtcp_units::Duration;

use super::*;

const MAX: NonZeroUsize = NonZeroUsize::new(8).unwrap();

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn engine(agents: &str, limits: HoldLimits) -> Engine<u64> {
    let chain = Chain::new(&[agents.to_owned()]).unwrap();
    Engine::new(&chain, limits, MAX, 1).unwrap()
}

fn wide() -> HoldLimits {
    HoldLimits {
        longest: Duration::from_secs(60),
        of_round_trip: 1e6,
        of_timeout: 1e6,
        budget: Duration::from_secs(3600),
        span: Duration::from_secs(3600),
        longest_data: Duration::from_secs(1),
    }
}

const TRIP: RoundTrip = RoundTrip {
    smoothed: Duration::from_millis(100),
    timeout: Duration::from_millis(300),
};

fn ack(acknowledgment: u32, echo: u32) -> Segment {
    Segment {
        acknowledgment: SequenceNumber(acknowledgment),
        flags: Flags::ACK,
        timestamps: Some(Timestamps { value: 1, echo }),
        ..Segment::default()
    }
}

fn passing(packet: u64, toward: Toward, segment: Segment) -> PassingPacket<'static, u64> {
    PassingPacket {
        flow: 1,
        toward,
        segment,
        bytes: &[],
        packet,
        round_trip: Some(TRIP),
    }
}

/// The packets that pass by `now`, with their times.
fn passed(engine: &mut Engine<u64>, now: Instant, out: &mut Vec<(Instant, u64)>) {
    while let Some(decision) = engine.poll() {
        match decision {
            Decision::Pass(packet)
            | Decision::PassChanged(packet, _)
            | Decision::PassWithPriority(packet, _) => out.push((now, packet)),
            Decision::Drop(_) | Decision::Repeat(_) => {}
        }
    }
}

/// Departures of acknowledgments from an access point: one every 10 ms, with a delay spike after
/// each thirty.
fn trace() -> Vec<(Instant, Segment)> {
    let mut came = Instant::ZERO;
    (1..200_u32)
        .map(|number| {
            let spike = if number % 30 == 0 { 150 } else { 0 };
            came = came.max(ms(u64::from(number) * 10 + 40 + spike));
            (came, ack(number * 1000, number * 10))
        })
        .collect()
}

/// An engine that sees only acknowledgments holds them exactly like the agent that also sees the
/// data between them, as in a simulation.
#[test]
fn what_is_inferred_does_for_what_is_seen() {
    let rule = DelayRule::Adaptive(AdaptiveDelay::default());
    let mut simulated: DelayInjection<u64> = DelayInjection::new(rule, MAX).unwrap();
    let mut engine = engine("delay-injection", wide());
    let (mut there, mut here) = (Vec::new(), Vec::new());
    let mut number = 0;
    for (came, segment) in trace() {
        number += 1;
        let mut due = simulated.next_wakeup();
        while due < came {
            simulated.on_wakeup(due, &mut |_, _| {});
            while let Some(Emission::Pass(passage)) = simulated.poll(due) {
                there.push((due, passage.packet));
            }
            due = simulated.next_wakeup();
        }
        let data = Segment {
            payload_bytes: 1000,
            flags: Flags::ACK,
            ..segment
        };
        let both = [(Toward::Wired, data, 0), (Toward::Mobile, segment, number)];
        // The first acknowledgment reports no data: both begin with a connection already running.
        for (toward, segment, packet) in both.into_iter().skip(usize::from(number == 1)) {
            let passage = Passage {
                flow: 1,
                toward,
                segment,
                packet,
            };
            simulated.handle(came, passage, &mut |_, _| {});
            while let Some(Emission::Pass(passage)) = simulated.poll(came) {
                there.push((came, passage.packet));
            }
        }
        while engine.next_wakeup() < came {
            let due = engine.next_wakeup();
            engine.wake(due);
            passed(&mut engine, due, &mut here);
        }
        engine.pass(came, &passing(number, Toward::Mobile, segment));
        passed(&mut engine, came, &mut here);
    }
    there.retain(|&(_, packet)| packet != 0);
    let held = |list: &[(Instant, u64)]| {
        let trace = trace();
        let late = |&&(left, packet): &&(Instant, u64)| left > trace[packet as usize - 1].0;
        list.iter().filter(late).count()
    };
    assert!(held(&here) > 10, "{here:?}");
    assert_eq!(here, there);
}

#[test]
fn bounds_release_and_nothing_is_decided_twice() {
    let limits = HoldLimits {
        longest: Duration::from_millis(5),
        ..wide()
    };
    let mut engine = engine("static-delay:delay=1s,every=1", limits);
    let mut out = Vec::new();
    for number in 1..=4 {
        let now = ms(number);
        engine.pass(
            now,
            &passing(number, Toward::Mobile, ack(number as u32 * 1000, 1)),
        );
        passed(&mut engine, now, &mut out);
    }
    // Only from the second on is it known that the mobile sends.
    assert_eq!(out, [(ms(1), 1)]);
    assert_eq!(engine.oldest_deadline(), Some(ms(7)));
    engine.wake(ms(9));
    passed(&mut engine, ms(9), &mut out);
    assert_eq!(out[1..], [(ms(9), 2), (ms(9), 3), (ms(9), 4)]);
    // The agent releases them a second later, which no longer has any effect.
    engine.wake(ms(5000));
    passed(&mut engine, ms(5000), &mut out);
    assert_eq!(out.len(), 4);
    assert_eq!((engine.held(), engine.counts().cut_by_limit), (0, 3));
}

#[test]
fn without_a_round_trip_nothing_is_held() {
    let mut engine = engine("static-delay:delay=1s,every=1", HoldLimits::default());
    let mut out = Vec::new();
    for number in 1..=3 {
        let unmeasured = PassingPacket {
            round_trip: None,
            ..passing(number, Toward::Mobile, ack(number as u32 * 1000, 1))
        };
        engine.pass(ms(number), &unmeasured);
        passed(&mut engine, ms(number), &mut out);
    }
    assert_eq!(out, [(ms(1), 1), (ms(2), 2), (ms(3), 3)]);
    assert_eq!(engine.counts().cut_unmeasured, 2);
}

/// Whatever arrives, each packet gets one verdict within the bounds.
#[test]
fn every_packet_leaves_once_and_in_time() {
    let agents = [
        "delay-injection",
        "static-delay:delay=30ms,every=2",
        "random-delay",
        "snoop",
        "wtcp:window=2,packets=4",
        "dynamic-arq",
        "delay-injection+snoop",
    ];
    for agents in agents {
        for seed in 0..20 {
            check(agents, seed);
        }
    }
}

fn check(agents: &str, seed: u64) {
    let draws = airtcp_link::Stream::new(seed, "engine.test");
    let mut engine = engine(agents, HoldLimits::default());
    let (mut now, mut decided) = (Instant::ZERO, std::collections::BTreeMap::new());
    let draw = |index: u64, below: u64| draws.draw(index) % below;
    for number in 1..400_u64 {
        let at = number * 20;
        now += Duration::from_micros(draw(at, 20_000));
        let segment = Segment {
            sequence: SequenceNumber((draw(at + 1, 20) * 500) as u32),
            acknowledgment: SequenceNumber((draw(at + 2, 40) * 500) as u32),
            payload_bytes: if draw(at + 3, 2) == 0 { 0 } else { 500 },
            flags: Flags::from_bits(draw(at + 4, 256) as u8) | Flags::ACK,
            timestamps: (draw(at + 5, 4) > 0).then(|| Timestamps {
                value: draw(at + 6, 1000) as u32,
                echo: draw(at + 7, 1000) as u32,
            }),
            ..Segment::default()
        };
        let toward = if draw(at + 8, 2) == 0 {
            Toward::Mobile
        } else {
            Toward::Wired
        };
        let flow: FlowKey = draw(at + 9, 12);
        let packet = PassingPacket {
            flow,
            round_trip: (draw(at + 10, 3) > 0).then_some(TRIP),
            ..passing(number, toward, segment)
        };
        engine.pass(now, &packet);
        settle(&mut engine, &mut decided, (agents, seed));
    }
    engine.wake(now + Duration::from_secs(2));
    settle(&mut engine, &mut decided, (agents, seed));
    assert_eq!(engine.held(), 0, "{agents}, seed {seed}");
    assert_eq!(decided.len(), 399, "{agents}, seed {seed}");
}

fn settle(
    engine: &mut Engine<u64>,
    decided: &mut std::collections::BTreeMap<u64, ()>,
    case: (&str, u64),
) {
    while let Some(decision) = engine.poll() {
        let packet = match decision {
            Decision::Pass(packet)
            | Decision::PassChanged(packet, _)
            | Decision::PassWithPriority(packet, _)
            | Decision::Drop(packet) => packet,
            Decision::Repeat(_) => continue,
        };
        assert!(
            decided.insert(packet, ()).is_none(),
            "{packet} twice: {case:?}"
        );
    }
}

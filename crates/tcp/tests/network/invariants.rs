//! Random networks, applications and choices: every byte arrives once and in order, nothing stalls,
//! and the invariants of [`Network`] hold after every step.

use std::hash::Hasher;

use airtcp_packet::SequenceNumber;
use airtcp_tcp::config::{
    DelayedAckConfig, DeviationFrom, Recovery, Retransmission, RttSampling, TimeoutConfig,
    TimerScope, WindowGrowth,
};
use airtcp_tcp::{Config, Connection, State};
use airtcp_units::{Duration, Instant};
use proptest::prelude::*;
use proptest::sample::select;

use crate::toy::{Application, Fate, Network, Reader, steady};

/// The fate of one segment: arrival times of its copies, in ms beyond the path's delay.
type Copies = Vec<u16>;

#[derive(Clone, Debug)]
struct Plan {
    configs: [Config; 2],
    applications: [Application; 2],
    delay: Duration,
    /// For the first segments of each endpoint; all later ones arrive in order.
    fates: [Vec<Copies>; 2],
}

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

fn timeout() -> impl Strategy<Value = TimeoutConfig> {
    (
        select(vec![1_u64, 200, 1000]),
        select(vec![1.0, 4.0, 10.0]),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        select(vec![
            None,
            Some(TimerScope::Connection),
            Some(TimerScope::Segment),
        ]),
    )
        .prop_map(
            |(min, factor, window, updated, back_off, scope)| TimeoutConfig {
                factor,
                min: milliseconds(min),
                max: Duration::from_secs(4),
                sampling: if window {
                    RttSampling::PerWindow
                } else {
                    RttSampling::PerAcknowledgment
                },
                deviation_from: if updated {
                    DeviationFrom::UpdatedMean
                } else {
                    DeviationFrom::PreviousMean
                },
                back_off,
                scope,
                ..TimeoutConfig::default()
            },
        )
}

fn config() -> impl Strategy<Value = Config> {
    let sender = (
        select(vec![Recovery::Tahoe, Recovery::Reno, Recovery::NewReno]),
        select(vec![
            Retransmission::GoBackN,
            Retransmission::SelectiveRepeat,
        ]),
        select(vec![WindowGrowth::Bytes, WindowGrowth::Acknowledgments]),
        any::<bool>(),
        1_u32..5,
        1_u32..12,
        select(vec![None, Some(1), Some(20)]),
        timeout(),
    );
    let receiver = (
        select(vec![100_u32, 536, 1448]),
        select(vec![300_u64, 3000, 20_000, 1 << 20]),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        select(vec![1_u64, 10, 1000]),
        1_u32..5,
    );
    (sender, receiver).prop_map(|(sender, receiver)| {
        let (
            recovery,
            retransmission,
            window_growth,
            limited_transmit,
            threshold,
            initial,
            cap,
            timeout,
        ) = sender;
        let (mss, receive_buffer, sack, dsack, timestamps, tick, segments) = receiver;
        Config {
            mss,
            initial_window: initial,
            max_window: cap,
            receive_buffer,
            sack,
            dsack,
            timestamps,
            timestamp_tick: milliseconds(tick),
            recovery,
            duplicate_ack_threshold: threshold,
            limited_transmit,
            retransmission,
            window_growth,
            timeout,
            delayed_ack: DelayedAckConfig {
                segments,
                timeout: milliseconds(40),
                ..DelayedAckConfig::default()
            },
            ..Config::default()
        }
    })
}

fn application() -> impl Strategy<Value = Application> {
    let reader = prop_oneof![
        3 => Just(Reader::Eager),
        1 => (500_u64..4000, 1_u64..60)
            .prop_map(|(bytes, pause)| Reader::Slow(bytes, milliseconds(pause))),
        1 => (0_u64..3000).prop_map(|from| Reader::Late(Instant::ZERO + milliseconds(from))),
    ];
    let bytes = prop_oneof![1 => Just(0), 4 => 1_u64..60_000];
    (bytes, 20_u64..20_000, 0_u64..30, reader, 0_u64..4000).prop_map(
        |(bytes, write, pause, reader, close)| Application {
            bytes,
            write: (write, milliseconds(pause)),
            reader,
            close_at: Instant::ZERO + milliseconds(close),
        },
    )
}

/// Segments of each end with a fate from the plan; the others arrive.
const MAX_FATES: u8 = 80;

fn fates() -> impl Strategy<Value = Vec<Copies>> {
    let copies = prop_oneof![
        5 => Just(vec![0]),
        2 => Just(vec![]),
        2 => (0_u16..400).prop_map(|late| vec![late]),
        1 => (0_u16..400, 0_u16..4000).prop_map(|(one, other)| vec![one, other]),
    ];
    prop::collection::vec(copies, 0..usize::from(MAX_FATES))
}

fn plan() -> impl Strategy<Value = Plan> {
    (
        [config(), config()],
        [application(), application()],
        0_u64..100,
        [fates(), fates()],
    )
        .prop_map(|(mut configs, applications, delay, fates)| {
            // A handshake may lose each of the first segments, and giving up is no stall.
            for config in &mut configs {
                config.limits.syn_retries = MAX_FATES;
                config.limits.synack_retries = MAX_FATES;
            }
            Plan {
                configs,
                applications,
                delay: milliseconds(delay),
                fates,
            }
        })
}

fn fate(plan: &Plan) -> Fate {
    let (delay, fates) = (plan.delay, plan.fates.clone());
    Box::new(
        move |_, from, index, _| match fates[from].get(index as usize) {
            Some(copies) => copies
                .iter()
                .map(|&late| delay + milliseconds(u64::from(late)))
                .collect(),
            None => vec![delay],
        },
    )
}

/// Runs a plan to its end. Every lossy segment can cost a timeout, plus a transfer without losses
/// and the applications' pauses.
fn run(plan: &Plan, mut network: Network) -> Result<u64, TestCaseError> {
    let limit = Instant::ZERO + Duration::from_secs(1200);
    let done = network.run(limit);
    for (which, end) in network.ends.iter().enumerate() {
        let sender = end.connection.sender();
        prop_assert!(
            done,
            "end {which} stalls in {:?} at {:?}: una {} nxt {} written {} edge {} {:?}, read {}",
            end.connection.state(),
            network.now,
            sender.una(),
            sender.nxt(),
            sender.written(),
            sender.right_edge(),
            sender.phase(),
            end.read,
        );
        prop_assert_eq!(end.read, plan.applications[1 - which].bytes);
        prop_assert_eq!(sender.una(), plan.applications[which].bytes + 1);
    }
    Ok(network.digest.finish())
}

proptest! {
    #[test]
    fn every_byte_arrives_once_and_in_order_whatever_the_network(plan in plan()) {
        let network = || Network::new(plan.configs, plan.applications, fate(&plan));
        let digest = run(&plan, network())?;
        prop_assert_eq!(run(&plan, network())?, digest, "the same plan gives the same segments");
    }

    /// Either endpoint may freeze and thaw at any time (Freeze-TCP), even for no reason.
    #[test]
    fn freezes_lose_nothing(
        plan in plan(),
        freezes in prop::collection::vec((0_usize..2, 0_u64..3000, 1_u64..3000), 1..4),
    ) {
        let mut network = Network::new(plan.configs, plan.applications, fate(&plan));
        for (end, pause, length) in freezes {
            let start = network.now + milliseconds(pause);
            network.run(start);
            network.now = start;
            network.ends[end].connection.freeze(start);
            network.run(start + milliseconds(length));
            network.now = start + milliseconds(length);
            network.ends[end].connection.thaw(network.now);
        }
        run(&plan, network)?;
    }

    /// Both sides open at the same time (RFC 9293 §3.5, figure 8).
    #[test]
    fn both_may_open_at_the_same_time(plan in plan()) {
        let numbers = [1, u32::MAX].map(SequenceNumber);
        let connections = [0, 1].map(|end| Connection::connect(&plan.configs[end], numbers[end]));
        let network =
            Network::between(plan.configs, connections, numbers, plan.applications, fate(&plan));
        run(&plan, network)?;
    }
}

/// A completed connection is removed after TIME-WAIT and not before.
#[test]
fn both_ends_are_closed_in_the_end() {
    let applications = [Application::sends(10_000), Application::sends(0)];
    let mut network = Network::new(
        [Config::default(); 2],
        applications,
        steady(milliseconds(10)),
    );
    assert!(network.run(Instant::ZERO + Duration::from_secs(10)));
    let states = network.ends.each_ref().map(|end| end.connection.state());
    assert!(states.contains(&State::TimeWait), "{states:?}");
}

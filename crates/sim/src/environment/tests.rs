//! Steering has its effect and no other, and is the same every time.

use std::path::Path;

use super::*;
use crate::run::{Observe, run};

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "test", Path::new(".")).expect("a scenario")
}

fn steering(action: Action) -> Steering {
    Steering {
        action,
        gain: 1.0,
        least_interval: Duration::from_millis(10),
        agents: 1,
    }
}

const LINK: &str = "duration = '10 s'\nlink.loss.rate = 0.01";

fn value(environment: &Environment, name: &str) -> f64 {
    let index = VALUES.iter().position(|(known, ..)| *known == name);
    environment.observations()[0][index.expect("a value")].into()
}

#[test]
fn a_multiplier_of_one_is_the_run_without_an_agent() {
    let scenario = scenario(LINK);
    let whole = run(&scenario, 3, &Observe::default(), &|_| true).expect("a run");
    let mut environment =
        Environment::new(&scenario, 3, steering(Action::Window)).expect("an environment");
    let mut steps = 0;
    while !environment.is_finished() {
        environment.step(&[0.0]).expect("a step");
        steps += 1;
    }
    assert!(steps > 100, "{steps}");
    let flow = &environment.simulation.flows()[0];
    let counters = flow.client().sender().counters();
    let summary = &whole.summary.flows[0];
    assert_eq!(counters.segments_sent, summary.sending.segments_sent);
    assert_eq!(flow.delivered(), summary.delivery.delivered_bytes);
}

#[test]
fn a_window_is_multiplied_and_data_leaves_at_once() {
    let scenario = scenario("duration = '10 s'\nlink.loss.rate = 0\nlink.rate = '100 Mbit/s'");
    let begin = || Environment::new(&scenario, 1, steering(Action::Window)).expect("one");
    let mut environment = begin();
    let before = environment.simulation.flows()[0].client().sender().cwnd();
    environment.steer(0, 1.0);
    let sender = environment.simulation.flows()[0].client().sender();
    assert_eq!(sender.cwnd(), 2 * before);
    assert_eq!(sender.in_flight(), 2 * before);
    let (mut wider, mut narrower) = (begin(), begin());
    wider.step(&[1.0]).expect("a step");
    narrower.step(&[-1.0]).expect("a step");
    assert!(value(&wider, "sending_mbps") > 1.3 * value(&narrower, "sending_mbps"));
    let cwnd = |environment| value(environment, "cwnd_segments");
    assert!(cwnd(&wider) > cwnd(&narrower));
}

#[test]
fn a_pace_is_held_whatever_is_lost() {
    let scenario = scenario("duration = '60 s'\nlink.loss.rate = 0.05\nlink.rate = '50 Mbit/s'");
    let mut environment =
        Environment::new(&scenario, 1, steering(Action::Pace)).expect("an environment");
    while value(&environment, "pacing_mbps") < 8.0 {
        environment.step(&[1.0]).expect("a step");
    }
    let pace = value(&environment, "pacing_mbps");
    let (mut sent, mut steps, mut lost) = (0.0, 0, 0.0);
    while !environment.is_finished() {
        environment.step(&[0.0]).expect("a step");
        assert!((value(&environment, "pacing_mbps") - pace).abs() < 1e-3);
        sent += value(&environment, "sending_mbps");
        lost += value(&environment, "loss_share");
        steps += 1;
    }
    let steps = f64::from(steps);
    // The pace counts payload; a timeout pauses it.
    assert!(
        (0.9..1.02).contains(&(sent / steps / pace)),
        "{}",
        sent / steps / pace
    );
    assert!((0.03..0.07).contains(&(lost / steps)), "{}", lost / steps);
}

#[test]
fn observations_match_the_link() {
    let scenario = scenario(
        "duration = '30 s'\nlink.loss.rate = 0\nlink.rate = '8 Mbit/s'\nlink.delay = '20 ms'",
    );
    let mut environment =
        Environment::new(&scenario, 1, steering(Action::Window)).expect("an environment");
    while environment.now() < Instant::ZERO + Duration::from_secs(20) {
        environment.step(&[0.0]).expect("a step");
    }
    environment.step(&[0.0]).expect("a step");
    // A full link carries its rate less the headers.
    let throughput = value(&environment, "throughput_mbps");
    assert!((7.4..8.0).contains(&throughput), "{throughput}");
    assert!(value(&environment, "least_rtt_ms") >= 40.0);
    let (least, mean, greatest) = (
        value(&environment, "rtt_min_ms"),
        value(&environment, "rtt_mean_ms"),
        value(&environment, "rtt_max_ms"),
    );
    assert!(40.0 <= least && least <= mean && mean <= greatest);
    // A step is a round trip.
    let interval = value(&environment, "interval_ms");
    assert!(
        (0.9..1.1).contains(&(interval / value(&environment, "srtt_ms"))),
        "{interval}"
    );
    assert_eq!(value(&environment, "timeouts"), 0.0);
}

#[test]
fn threads_change_nothing() {
    let scenario = scenario(LINK);
    let observed = |threads| {
        let mut many = Environments::new(5, steering(Action::Window), threads);
        for seed in 0..5 {
            many.reset(seed, &scenario, seed as u64).expect("a run");
        }
        for step in 0..200 {
            let actions = [0.1 * f64::from(step % 7 - 3); 5];
            many.step(&actions, &[true; 5]).expect("a step");
        }
        let mut out = vec![0.0; 5 * OBSERVED];
        many.write_observations(&mut out);
        out
    };
    assert_eq!(observed(1), observed(3));
}

#[test]
fn flows_that_cannot_be_steered_are_refused() {
    let refused = |text: &str, action, agents| {
        let steering = Steering {
            agents,
            ..steering(action)
        };
        Environment::new(&scenario(text), 1, steering).err()
    };
    let bbr = "tcp.congestion_control = 'bbr'";
    assert_eq!(
        refused(bbr, Action::Window, 1),
        Some(EnvironmentError::Model)
    );
    assert_eq!(refused(bbr, Action::Pace, 1), None);
    assert_eq!(
        refused("", Action::Window, 2),
        Some(EnvironmentError::Flows(1))
    );
    let old = "tcp.profile = 'newreno'";
    assert_eq!(refused(old, Action::Window, 1), None);
    assert!(matches!(
        refused(old, Action::Pace, 1),
        Some(EnvironmentError::Unsuited("sack", _))
    ));
}

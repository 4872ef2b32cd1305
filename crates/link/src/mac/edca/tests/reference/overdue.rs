//! A sender gives up on an answer while a longer frame that collided with its frame is still on the
//! air.

use super::super::scenario::Scenario;
use super::*;

/// The access point has a short packet for the station, which has an aggregate of 2 ms for it, and
/// another arrives later. It makes one attempt, and informs the receiver with a block ACK request
/// that it need not wait; when that collides with the aggregate it has nothing to send. Both have
/// short windows and, waiting for two slots for an answer, slots at the same times: they collide
/// often.
fn cell(seed: u64, later: u64) -> Scenario {
    let mut config = config(1, mcs_7());
    for access in &mut config.access {
        (access.smallest_window, access.largest_window) = (3, 3);
    }
    config.access_point_retry_limit = attempts(1);
    config.answer_timeout = Some(config.phy.slot() * 2);
    let arrival = |at: u64, up: bool, bytes| Arrival {
        at: at * 1000,
        from: u32::from(up),
        to: u32::from(!up),
        bytes,
        flow: 0,
        class: PacketClass::Data,
        expires_after: None,
    };
    let mut arrivals = vec![arrival(0, true, 1500); 10];
    arrivals.extend([0, later].map(|at| arrival(at, false, 40)));
    Scenario {
        config,
        arrivals,
        seed,
        tick: 1000,
    }
}

/// Whether the last packet arrived in that time, at an access point with a collided request.
fn is_overdue(scenario: &Scenario, history: &History) -> bool {
    let came = scenario.arrivals[scenario.arrivals.len() - 1].at;
    let timeout = 2 * scenario.config.phy.slot().as_nanos();
    history.frames.windows(2).any(|pair| {
        let (request, other) = (&pair[0], &pair[1]);
        request.frame == FrameKind::BlockAckRequest
            && request.fate == Fate::Collided
            && (request.end + timeout + 1..=other.end).contains(&came)
    })
}

/// A packet that arrives then finds a busy medium and, if the back-off has no slots, a counter at
/// 0: it draws another (IEEE 802.11-2020 §10.23.2.2). Random cells met this twice in 40 000.
#[test]
fn what_comes_behind_an_overdue_answer_backs_off() {
    let mut came = 0;
    for seed in 0..100 {
        for later in (2100..4500).step_by(200) {
            let scenario = cell(seed, later);
            let ours = scenario.run();
            ours.agrees_with(&Reference::run(&scenario)).unwrap();
            came += u32::from(is_overdue(&scenario, &ours));
        }
    }
    assert!(came >= 20, "{came}");
}

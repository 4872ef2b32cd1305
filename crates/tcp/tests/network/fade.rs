//! A fade of three seconds in which nothing passes, with and without Freeze-TCP at the receiver.

use airtcp_tcp::{Config, Event, Profile};
use airtcp_units::{Duration, Instant};

use crate::toy::{Application, Network};

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// The window leaves in a burst every 100 ms, at 1900 ms too, and arrives 50 ms later: in the fade.
const FADE: (u64, u64) = (1930, 5000);

/// 50 ms each way and at most 40 segments in flight: 4.6 Mbit/s outside the fade.
fn network(profile: Profile) -> Network {
    let config = Config {
        max_window: Some(40),
        ..profile.config()
    };
    let fate = Box::new(|now: Instant, _: usize, _: u64, _: &_| {
        let delay = Duration::from_millis(50);
        let dark = |instant| at(FADE.0) <= instant && instant < at(FADE.1);
        if dark(now) || dark(now + delay) {
            vec![]
        } else {
            vec![delay]
        }
    });
    let applications = [Application::sends(4_000_000), Application::sends(0)];
    Network::new([config; 2], applications, fate)
}

/// Profiles with a window that only a loss moves. Linux has a special treatment of a pause.
const CLASSIC: [Profile; 4] = [
    Profile::Tahoe,
    Profile::Reno,
    Profile::NewReno,
    Profile::Sack,
];

/// Runs a transfer with a receiver that freezes at `freeze` and thaws when the fade is over.
/// Returns timeouts, fast retransmits, and the windows at the freeze and at the first arrival after
/// it.
fn transfer(profile: Profile, freeze: Option<u64>) -> (usize, usize, [u64; 2], Network) {
    let mut network = network(profile);
    let mut windows = [0; 2];
    if let Some(freeze) = freeze {
        network.run(at(freeze));
        network.ends[1].connection.freeze(network.now);
        windows[0] = network.ends[0].connection.sender().cwnd();
        network.run(at(FADE.1));
        network.now = at(FADE.1);
        network.ends[1].connection.thaw(network.now);
        network.run(at(FADE.1 + 60));
        windows[1] = network.ends[0].connection.sender().cwnd();
    }
    assert!(network.run(at(600_000)), "the transfer ends");
    assert_eq!(network.ends[1].read, 4_000_000);
    let end = &network.ends[0];
    let timeouts = end.count(|event| matches!(event, Event::Timeout { .. }));
    let repairs = end.count(|event| matches!(event, Event::FastRetransmit { .. }));
    (timeouts, repairs, windows, network)
}

/// Goff et al. §3.1: warned a round trip ahead, nothing is lost, nothing times out, the window is
/// unchanged, and data flows one round trip after the fade.
#[test]
fn a_freeze_a_round_trip_ahead_keeps_the_window() {
    for profile in CLASSIC {
        let (timeouts, repairs, windows, network) = transfer(profile, Some(FADE.0 - 105));
        assert_eq!((timeouts, repairs), (0, 0), "{profile:?}");
        assert_eq!(windows[0], windows[1]);
        assert_eq!(windows[0], 40 * 1448);
        assert_eq!(
            network.ends[0]
                .connection
                .sender()
                .counters()
                .segments_retransmitted,
            0
        );
    }
}

/// Warned just in time for the acknowledgment: the burst in flight, most of a window, is lost, and
/// retransmitted when the window opens, without a timeout and with the window unchanged.
#[test]
fn a_late_freeze_repairs_without_a_timeout() {
    for profile in CLASSIC {
        let (timeouts, repairs, windows, network) = transfer(profile, Some(FADE.0 - 55));
        assert_eq!((timeouts, repairs), (0, 0), "{profile:?}");
        assert_eq!(windows[0], windows[1], "{profile:?}");
        let resent = network.ends[0]
            .connection
            .sender()
            .counters()
            .segments_retransmitted;
        assert!((30..=40).contains(&resent), "{profile:?} {resent}");
    }
}

/// Without a freeze, the same fade costs timeouts that back off past its end.
#[test]
fn an_end_that_does_not_freeze_times_out() {
    for profile in CLASSIC {
        let (timeouts, _, _, network) = transfer(profile, None);
        assert!(timeouts >= 3, "{profile:?}: {timeouts}");
        let (_, _, _, frozen) = transfer(profile, Some(FADE.0 - 105));
        assert!(
            frozen.now + Duration::from_millis(500) < network.now,
            "{profile:?}"
        );
    }
}

use super::*;

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

/// Feeds a round of `count` acknowledgments `gap` apart, each with the same round trip; returns the
/// number after which slow start ended.
struct Path {
    slow_start: SlowStart,
    now: Instant,
    una: u64,
    cwnd: u64,
}

impl Path {
    fn new(choice: config::SlowStart) -> Self {
        Self {
            slow_start: SlowStart::new(choice),
            now: Instant::ZERO + Duration::from_secs(1),
            una: 0,
            cwnd: 32,
        }
    }

    fn round(&mut self, count: u64, gap: Duration, rtt: Duration) -> Option<u64> {
        let nxt = self.una + self.cwnd;
        // Further apart than in any train.
        self.now += milliseconds(50);
        for index in 1..=count {
            self.una += self.cwnd / count;
            let exit = self.slow_start.on_round_trip(&RoundTrip {
                now: self.now,
                rtt,
                una: self.una,
                nxt: nxt + index,
                cwnd_segments: self.cwnd,
                paced: false,
            });
            if exit {
                return Some(index);
            }
            self.now += gap;
        }
        None
    }
}

#[test]
fn standard_slow_start_never_ends_of_itself() {
    let mut path = Path::new(config::SlowStart::Standard);
    for rtt in [20, 40, 80, 160, 320] {
        assert_eq!(path.round(16, milliseconds(1), milliseconds(rtt)), None);
    }
    assert_eq!(path.slow_start.divisor(), 1);
}

/// Linux: a train longer than (least round trip + 1 ms)/2. With 40 ms that is 20.5 ms: the 22nd
/// acknowledgment of a train 1 ms apart is 21 ms after the first.
#[test]
fn hystart_ends_at_a_long_train() {
    let mut path = Path::new(config::SlowStart::HyStart);
    assert_eq!(path.round(16, milliseconds(1), milliseconds(40)), None);
    path.una += 40;
    assert_eq!(path.round(32, milliseconds(1), milliseconds(40)), Some(22));
    // Once is enough.
    assert_eq!(path.round(32, milliseconds(1), milliseconds(40)), None);
}

#[test]
fn hystart_leaves_small_windows_alone() {
    let mut path = Path::new(config::SlowStart::HyStart);
    path.cwnd = 15;
    assert_eq!(path.round(15, milliseconds(2), milliseconds(10)), None);
    assert_eq!(path.round(15, milliseconds(2), milliseconds(80)), None);
}

/// Linux before and after 4e1fddc98d25 (5.16): ten acknowledgments arrive before the window has 16
/// segments. Up to 5.15 the first train begins there, and is too long at its 22nd acknowledgment;
/// since then it would have had to begin with the round.
#[test]
fn hystart_up_to_5_15_begins_its_first_train_at_sixteen_segments() {
    for (choice, ends) in [
        (config::SlowStart::HyStart, None),
        (config::SlowStart::HyStart510, Some(22)),
    ] {
        let mut path = Path::new(choice);
        path.cwnd = 10;
        assert_eq!(path.round(10, milliseconds(1), milliseconds(40)), None);
        path.cwnd = 16;
        assert_eq!(path.round(30, milliseconds(1), milliseconds(40)), ends);
    }
}

/// An eighth of 100 ms is 12.5 ms: 112 ms is no growth but 113 ms is, once more than eight samples
/// are taken.
#[test]
fn hystart_ends_when_round_trips_grow() {
    let grown = |rtt| {
        let mut path = Path::new(config::SlowStart::HyStart);
        path.round(16, milliseconds(3), milliseconds(100));
        path.una += 40;
        path.round(16, milliseconds(3), milliseconds(rtt))
    };
    assert_eq!(grown(112), None);
    assert_eq!(grown(113), Some(9));
}

/// RFC 9406 §4.2 and §4.3 by hand: the last round's minimum is 100 ms, the threshold 12.5 ms.
#[test]
fn hystart_plus_plus_slows_down_and_then_ends() {
    let mut path = Path::new(config::SlowStart::HyStartPlusPlus);
    path.round(16, milliseconds(1), milliseconds(100));
    path.una += 40;
    assert_eq!(path.round(16, milliseconds(1), milliseconds(112)), None);
    assert_eq!(path.slow_start.divisor(), 1);
    path.una += 40;
    assert_eq!(path.round(7, milliseconds(1), milliseconds(130)), None);
    assert_eq!(path.slow_start.divisor(), 1, "fewer than eight samples");
    path.una += 40;
    assert_eq!(path.round(8, milliseconds(1), milliseconds(150)), None);
    assert_eq!(path.slow_start.divisor(), 4, "conservative slow start");
    let mut rounds = 0;
    let ended = loop {
        path.una += 40;
        rounds += 1;
        if path.round(8, milliseconds(1), milliseconds(150)).is_some() || rounds > 9 {
            break rounds;
        }
    };
    assert_eq!(ended, 5, "CSS_ROUNDS");
}

#[test]
fn hystart_plus_plus_goes_back_when_the_growth_was_a_jitter() {
    let mut path = Path::new(config::SlowStart::HyStartPlusPlus);
    path.round(16, milliseconds(1), milliseconds(100));
    path.una += 40;
    path.round(16, milliseconds(1), milliseconds(130));
    assert_eq!(path.slow_start.divisor(), 4);
    path.una += 40;
    path.round(8, milliseconds(1), milliseconds(101));
    assert_eq!(path.slow_start.divisor(), 1);
    // RFC 9406 §4.3: only in the first slow start.
    path.slow_start.on_timeout();
    assert!(path.slow_start.is_standard());
}

//! Reports of a packet's attempts, and their times.

use super::scenario::at;
use super::*;
use crate::error::ErrorModel;
use crate::scheduler::deadline::DeadlineOrder;

/// The reports, in the order of time: 'r' for a failed attempt, 'd' for delivered, 'x' for given
/// up; the sender; the number of attempts.
fn told(config: &BssConfig, senders: &[u32]) -> Vec<(char, u32, u32)> {
    let mut bss: Bss<()> = Bss::new(config, Stream::new(1, "bss")).unwrap();
    let idle = Instant::ZERO + Duration::from_micros(100);
    for &from in senders {
        let to = u32::from(from == ACCESS_POINT);
        assert!(bss.push(idle, (from, to), offer(1464), (), &mut ()));
    }
    let mut told = Vec::new();
    let mut last = Instant::ZERO;
    while bss.next_wakeup() < Instant::FAR_FUTURE {
        let now = bss.next_wakeup();
        assert!(now > last);
        last = now;
        assert!(last < at(1_000_000), "it goes on and on");
        bss.on_wakeup(now, &mut ());
        while let Some(outcome) = bss.poll() {
            told.push(match outcome {
                Outcome::Retried { from, attempts, .. } => ('r', from, attempts),
                Outcome::Delivered { from, attempts, .. } => ('d', from, attempts),
                Outcome::Discarded { from, attempts, .. } => ('x', from, attempts),
                Outcome::Acknowledged { from, attempts, .. } => ('a', from, attempts),
                Outcome::Dropped { .. } => panic!("a queue without a discipline"),
            });
        }
    }
    told
}

fn exact(report_retries: bool) -> BssConfig {
    BssConfig {
        contention_window: Some((0, 0)),
        report_retries,
        ..config(1)
    }
}

fn with_damage(period: u32, lost: u32, config: BssConfig) -> BssConfig {
    BssConfig {
        damage: DamageConfig {
            model: ErrorModel::Block { period, lost },
            ..DamageConfig::default()
        },
        ..config
    }
}

/// Of four frames the first arrives: of two packets the second is sent four times.
#[test]
fn retries_are_told_when_asked_for() {
    let first = ('d', 1, 1);
    let second = ('d', 1, 4);
    assert_eq!(
        told(&with_damage(4, 3, exact(true)), &[1, 1]),
        [first, ('r', 1, 1), ('r', 1, 2), ('r', 1, 3), second]
    );
    assert_eq!(
        told(&with_damage(4, 3, exact(false)), &[1, 1]),
        [first, second]
    );
}

/// The last attempt is no retry: the packet will not be retransmitted, whoever decides that.
#[test]
fn the_last_attempt_is_no_retry() {
    let mut by_limit = with_damage(1, 1, exact(true));
    by_limit.access_point.short_retry_limit = RetryLimit::Attempts(NonZeroU32::new(4).unwrap());
    let mut by_deadline = with_damage(1, 1, exact(true));
    by_deadline.access_point.order = RetransmissionOrder::Deadline(DeadlineOrder::default());
    for config in [by_limit, by_deadline] {
        assert_eq!(
            told(&config, &[ACCESS_POINT]),
            [('r', 0, 1), ('r', 0, 2), ('r', 0, 3), ('x', 0, 4)]
        );
    }
}

/// With windows of 0 the RTS of both collide each time, until the access point gives its packet up
/// after four attempts, by its order; the mobile then has the channel to itself. Its packet has
/// been sent only once: the collided frames were RTS.
#[test]
fn an_rts_in_vain_is_an_attempt_by_deadline() {
    let mut config = BssConfig {
        rts_threshold: Some(0),
        ..exact(false)
    };
    config.access_point.order = RetransmissionOrder::Deadline(DeadlineOrder::default());
    assert_eq!(
        told(&config, &[ACCESS_POINT, 1]),
        [('x', 0, 4), ('d', 1, 1)]
    );
}

//! Against the closed forms of selective repeat (D. Bertsekas, R. Gallager, Data Networks, 2nd ed.
//! 1992, §2.4.3; W. Stallings, Data and Computer Communications, 8th ed. 2007, §7.A): with frames
//! damaged independently with probability p, a frame is transmitted 1/(1 − p) times on average.

use super::*;

const PACKETS: usize = 40_000;

/// The results for [`PACKETS`] packets: time of the last report, packets that arrived, all
/// attempts.
struct Transfer {
    took: f64,
    arrived: Vec<u64>,
    attempts: f64,
}

fn transfer(config: &SelectiveRepeatConfig) -> Transfer {
    let all = outcomes(config, &[0; PACKETS]);
    let last = all.last().expect("outcomes").0;
    let mut transfer = Transfer {
        took: (last - Instant::ZERO).as_secs_f64(),
        arrived: Vec::new(),
        attempts: 0.0,
    };
    for (_, outcome) in all {
        if let Outcome::Delivered {
            packet, attempts, ..
        } = outcome
        {
            transfer.arrived.push(packet);
            transfer.attempts += f64::from(attempts);
        }
    }
    transfer
}

/// A window without limit keeps the line busy: (1 − p) of the rate, whatever the delay. The
/// standard error of 40 000 packets is at most 0.36 % (p = 0.5: sqrt(p)/sqrt(N)).
#[test]
fn an_ideal_window_carries_the_rate_less_what_is_damaged() {
    for rate in [0.0, 0.05, 0.2, 0.5] {
        for (delay, timeout) in [(0, 5), (20, 50), (20, 500)] {
            let transfer = transfer(&config(independent(rate), delay, timeout));
            // Frames in the air when the queue has run dry: the longest run of failures.
            let tail = (timeout as f64 + 1.0) * 1e-3 * 20.0;
            let least = 1e-3 * PACKETS as f64 / (1.0 - rate);
            let excess = transfer.took / least - 1.0;
            assert!(
                excess > -0.015 && excess < 0.015 + tail / least,
                "{rate}, {delay} ms, {timeout} ms: {excess}"
            );
            let mean = transfer.attempts / PACKETS as f64;
            assert!((mean * (1.0 - rate) - 1.0).abs() < 0.015, "{rate}: {mean}");
            assert_eq!(transfer.arrived.len(), PACKETS);
        }
    }
}

/// With W < 1 + 2a, a being propagation in frames, each of W frames goes round in 1 + 2a frame
/// times and is received in (1 − p) of its rounds: W/(1 + 2a)·(1 − p) of the rate.
#[test]
fn a_small_window_limits_efficiency() {
    for rate in [0.0, 0.1, 0.3] {
        for (window, delay) in [(1, 4), (4, 4), (8, 4), (10, 20), (30, 20)] {
            let config = SelectiveRepeatConfig {
                window: Window::Outstanding(NonZeroU32::new(window).unwrap()),
                ..config(independent(rate), delay, 2 * delay)
            };
            let transfer = transfer(&config);
            let efficiency = f64::from(window) / (1.0 + 2.0 * delay as f64) * (1.0 - rate);
            let measured = 1e-3 * PACKETS as f64 / transfer.took;
            assert!(
                (measured / efficiency - 1.0).abs() < 0.015,
                "{rate}, {window}, {delay}: {measured}, {efficiency}"
            );
        }
    }
}

/// A window by numbers never carries more than one that counts outstanding frames, and as much when
/// nothing is damaged; with damage the oldest frame holds it up.
#[test]
fn a_window_by_numbers_is_the_slower_one() {
    for (rate, slower) in [(0.0, false), (0.2, true)] {
        let took = |window: fn(NonZeroU32) -> Window| {
            let config = SelectiveRepeatConfig {
                window: window(NonZeroU32::new(16).unwrap()),
                ..config(independent(rate), 10, 40)
            };
            transfer(&config).took
        };
        let (numbers, outstanding) = (took(Window::Numbers), took(Window::Outstanding));
        assert_eq!(
            numbers > 1.05 * outstanding,
            slower,
            "{numbers}, {outstanding}"
        );
        assert!(numbers >= outstanding);
    }
}

/// Of frames that are transmitted n times at most p^n are lost, within four standard errors.
#[test]
fn what_is_given_up_is_given_by_the_retry_limit() {
    for (rate, limit) in [(0.3, 1), (0.3, 2), (0.3, 4), (0.6, 7)] {
        for handover in [Handover::AsReceived, Handover::InOrder] {
            let mut config = SelectiveRepeatConfig {
                handover,
                ..config(independent(rate), 3, 6)
            };
            config.access_point.retry_limit = attempts(limit);
            let transfer = transfer(&config);
            let expected = rate.powi(limit as i32);
            let lost = 1.0 - transfer.arrived.len() as f64 / PACKETS as f64;
            let error = (expected * (1.0 - expected) / PACKETS as f64).sqrt();
            assert!(
                (lost - expected).abs() < 4.0 * error,
                "{limit}: {lost}, {expected}"
            );
            assert_eq!(
                transfer.arrived.is_sorted(),
                handover == Handover::InOrder || limit == 1
            );
        }
    }
}

/// On an idle line a packet that needs k retransmissions is in transit for a frame and the delay,
/// and k times for LL_RTO and a frame; k is geometric. Chi-squared over k = 0 to 5 and above: 22.5
/// is the 0.1 % point of six degrees of freedom.
#[test]
fn delay_is_a_geometric_number_of_timeouts() {
    for (rate, delay, timeout) in [(0.2, 2, 5), (0.4, 10, 500)] {
        let config = config(independent(rate), delay, timeout);
        let mut link = SelectiveRepeatLink::new(&config, Stream::new(11, "link")).unwrap();
        let mut counts = [0_u32; 7];
        let mut idle_from = Instant::ZERO;
        for packet in 0..10_000 {
            let start = idle_from;
            assert!(link.push(start, (MOBILE, ACCESS_POINT), offer(0), packet, &mut ()));
            while let Some((now, some)) = step(&mut link) {
                if let Some(Outcome::Delivered { attempts, .. }) = some.first() {
                    let under_way = (now - start).as_nanos() / MILLISECOND.as_nanos();
                    let retransmissions = (under_way - 1 - delay) / (timeout + 1);
                    assert_eq!((under_way - 1 - delay) % (timeout + 1), 0);
                    assert_eq!(retransmissions + 1, u64::from(*attempts));
                    counts[retransmissions.min(6) as usize] += 1;
                }
                idle_from = now;
            }
        }
        let chi_squared: f64 = counts
            .iter()
            .enumerate()
            .map(|(k, &count)| {
                let share = if k < 6 { 1.0 - rate } else { 1.0 };
                let expected = 10_000.0 * rate.powi(k as i32) * share;
                (f64::from(count) - expected).powi(2) / expected
            })
            .sum();
        assert!(chi_squared < 22.5, "{rate}: {counts:?}, {chi_squared}");
    }
}

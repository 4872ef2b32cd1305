//! Stations of different rates: M. Heusse, F. Rousseau, G. Berger-Sabbatel, A. Duda, "Performance
//! anomaly of 802.11b", INFOCOM 2003. All have the same chance of the channel and so the same
//! throughput, which is about that of the slowest.

use super::*;
use crate::phy::Mode;

const SECONDS: u64 = 200;

/// Packets a second of every station, saturated.
fn rates(config: &BssConfig) -> Vec<f64> {
    let mut bss: Bss<()> = Bss::new(config, Stream::new(3, "bss")).unwrap();
    for station in 1..=config.stations {
        for _ in 0..2 {
            assert!(bss.push(
                Instant::ZERO,
                (station, ACCESS_POINT),
                offer(IP_BYTES),
                (),
                &mut ()
            ));
        }
    }
    let end = Instant::ZERO + Duration::from_secs(SECONDS);
    let mut delivered = vec![0_u64; config.stations as usize];
    while bss.next_wakeup() < end {
        let now = bss.next_wakeup();
        bss.on_wakeup(now, &mut ());
        while let Some(outcome) = bss.poll() {
            if let Outcome::Delivered { from, .. } = outcome {
                delivered[from as usize - 1] += 1;
                assert!(bss.push(now, (from, ACCESS_POINT), offer(IP_BYTES), (), &mut ()));
            }
        }
    }
    let per_second = |count: &u64| *count as f64 / SECONDS as f64;
    delivered.iter().map(per_second).collect()
}

/// All stations but the first at 11 Mbit/s.
fn with_one_at(slow: Mode, stations: u32, rts_threshold: Option<u32>) -> BssConfig {
    let mut modes = vec![Mode::CCK_11; stations as usize];
    modes[0] = slow;
    BssConfig {
        station_modes: modes,
        ..saturated(stations, rts_threshold)
    }
}

/// Seconds of a data frame in a mode, its answer and DIFS, and of a collision with the longest
/// frame in that mode.
fn times(config: &BssConfig, mode: Mode) -> (f64, f64) {
    let phy = &config.phy;
    let frame = phy.data_time_in(mode, IP_BYTES + config.overhead);
    let answered = frame + phy.sifs() + phy.ack_time() + phy.difs();
    let (success, collision) = if config.rts_threshold.is_some() {
        let clear = phy.rts_time() + phy.sifs() + phy.cts_time() + phy.sifs();
        (clear + answered, phy.rts_time() + phy.eifs())
    } else {
        (answered, frame + phy.eifs())
    };
    (success.as_secs_f64(), collision.as_secs_f64())
}

/// Packets a second of each station by Bianchi's chain, with a transmission probability independent
/// of rates, and the time of a busy slot by its senders.
fn by_chain(config: &BssConfig, slow: Mode) -> f64 {
    let (window, doublings) = window(config);
    let sum = |p: f64| (0..doublings).map(|i| (2.0 * p).powi(i)).sum::<f64>();
    let (_, tau) = fixed_point(config.stations, |p| {
        2.0 / (1.0 + window + p * window * sum(p))
    });
    let others = f64::from(config.stations) - 1.0;
    let quiet = (1.0 - tau).powf(others);
    let alone = tau * quiet;
    let one_of_others = others * tau * (1.0 - tau).powf(others - 1.0);
    let ((slow_success, slow_collision), (success, collision)) =
        (times(config, slow), times(config, Mode::CCK_11));
    let slot = quiet * (1.0 - tau) * config.phy.slot().as_secs_f64()
        + alone * (slow_success + others * success)
        + tau * (1.0 - quiet) * slow_collision
        + (1.0 - tau) * (1.0 - quiet - one_of_others) * collision;
    alone / slot
}

/// The paper's expression: 1 / ((N − 1)·T_f + T_s + P_c(N)·t_jam·N), where T holds the mean
/// contention SLOT·(1 + P_c)/(2N)·CWmin/2, P_c = 1 − (1 − 1/CWmin)^(N−1), and t_jam averages the
/// longer of two colliding frames over all pairs.
fn by_paper(config: &BssConfig, slow: Mode) -> f64 {
    let n = f64::from(config.stations);
    let smallest = f64::from(config.windows().0);
    let collisions = 1.0 - (1.0 - 1.0 / smallest).powf(n - 1.0);
    let slots = (1.0 + collisions) / (2.0 * n) * smallest / 2.0;
    let contention = slots * config.phy.slot().as_secs_f64();
    let (t_s, t_f) = (
        times(config, slow).0 + contention,
        times(config, Mode::CCK_11).0 + contention,
    );
    let t_jam = 2.0 / n * t_s + (1.0 - 2.0 / n) * t_f;
    1.0 / ((n - 1.0) * t_f + t_s + collisions * t_jam * n)
}

/// The result of a case: the slow station, the mean of the others, the mean of all, packets a
/// second.
struct Measured {
    slow: f64,
    fast: f64,
    mean: f64,
    seen: String,
}

fn measure(slow: Mode, stations: u32, rts_threshold: Option<u32>) -> (Measured, f64, f64) {
    let config = with_one_at(slow, stations, rts_threshold);
    let rates = rates(&config);
    let all: f64 = rates.iter().sum();
    let fast = (all - rates[0]) / (f64::from(stations) - 1.0);
    let mean = all / f64::from(stations);
    let (chain, paper) = (by_chain(&config, slow), by_paper(&config, slow));
    let seen = format!(
        "{slow:?}, {stations} stations, RTS {}: slow {:.2}, fast {fast:.2}, mean {mean:.2}, \
         chain {chain:.2}, paper {paper:.2}",
        rts_threshold.is_some(),
        rates[0],
    );
    println!("{seen}");
    let measured = Measured {
        slow: rates[0],
        fast,
        mean,
        seen,
    };
    (measured, chain, paper)
}

const SLOW: [Mode; 3] = [Mode::DSSS_1, Mode::DSSS_2, Mode::CCK_5_5];

/// With RTS all collisions last as long, and stations differ in nothing but their rate: the slow
/// station and the others get the same within four standard errors, the mean of all is the chain's
/// within 1 %.
#[test]
fn stations_of_different_rates_get_the_same() {
    for slow in SLOW {
        for stations in [2, 3, 5, 10] {
            let (measured, chain, _) = measure(slow, stations, Some(0));
            let Measured {
                slow, mean, seen, ..
            } = measured;
            // Successes of one among n, each as likely: binomial at most.
            let error = libm::sqrt(mean * (1.0 - 1.0 / f64::from(stations)) / SECONDS as f64);
            assert!((slow - mean).abs() < 4.0 * error, "{seen}");
            assert!((mean / chain - 1.0).abs() < 0.01, "{seen}");
        }
    }
}
/// "A host transmitting for example at 1 Mb/s reduces the throughput of all other hosts
/// transmitting at 11 Mb/s to a low value below 1 Mb/s" (abstract).
#[test]
fn one_station_at_1_mbit_leaves_the_others_less_than_that() {
    for stations in [2, 4] {
        let fast = rates(&with_one_at(Mode::DSSS_1, stations, None))[1];
        let bits = fast * f64::from(8 * IP_BYTES);
        assert!(bits < 1e6, "{stations}: {bits}");
    }
}

/// Without RTS a fast station that has collided with a slow one waits DIFS after the slow frame,
/// which it could not hear begin, where the others wait EIFS (IEEE 802.11-2016 §10.3.2.3.7): it is
/// ahead by some slots, and gets a little more than the slow one. The paper's expression includes
/// neither that nor windows that have doubled.
#[test]
fn without_rts_the_fast_are_a_little_ahead() {
    for slow in SLOW {
        for stations in [2, 3, 5, 10] {
            let (measured, chain, paper) = measure(slow, stations, None);
            let Measured {
                slow,
                fast,
                mean,
                seen,
            } = measured;
            assert!(fast / slow > 0.98 && fast / slow < 1.08, "{seen}");
            assert!((mean / chain - 1.0).abs() < 0.03, "{seen}");
            assert!((mean / paper - 1.0).abs() < 0.08, "{seen}");
        }
    }
}

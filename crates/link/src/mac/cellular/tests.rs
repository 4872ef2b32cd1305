use super::*;
use crate::fading::{Fading, RadioConfig};
use crate::frame::PacketClass;

/// A user with a mean signal-to-noise ratio of `snr_db`.
fn radio(snr_db: f64, fading: Fading, user: u64) -> Radio {
    let config = RadioConfig {
        carrier_hz: 1.9e9,
        transmit_power_dbm: snr_db,
        noise_dbm: 0.0,
        path_loss_exponent: 0.0,
        loss_at_1_m_db: Some(0.0),
        shadowing_db: 0.0,
        shadowing_distance_m: None,
        fading,
    };
    Radio::new(&config, 1.0, Stream::new(4, "users").substream(user)).unwrap()
}

fn config(radios: Vec<Radio>) -> CellConfig {
    CellConfig {
        scheduler: Scheduler::ProportionalFair {
            time_constant: 1000.0,
        },
        slot: Duration::from_nanos(1_666_667),
        rate: RateLaw::Evdo,
        radios,
        saturated: 0,
        block_error: Probability::NEVER,
        arq_delay: NonZeroU32::new(4).unwrap(),
        retry_limit: RetryLimit::Unlimited,
        queue: QueueLimit::Unlimited,
        report_retries: false,
    }
}

fn offer() -> Offer {
    Offer {
        bytes: 1500,
        flow: 0,
        class: PacketClass::Data,
        urgency: None,
    }
}

/// Arrivals of `packets` packets for user 1 that are there from the start, with their times.
fn transfer(config: &CellConfig, packets: u64) -> Vec<(u64, Instant, bool)> {
    let mut cell = Cell::new(config, Stream::new(1, "cell")).unwrap();
    for packet in 0..packets {
        assert!(cell.push(Instant::ZERO, (ACCESS_POINT, 1), offer(), packet, &mut ()));
    }
    let mut done = Vec::new();
    while cell.next_wakeup() < Instant::FAR_FUTURE {
        let now = cell.next_wakeup();
        cell.on_wakeup(now, &mut ());
        while let Some(outcome) = cell.poll() {
            match outcome {
                Outcome::Delivered { packet, .. } => done.push((packet, now, true)),
                Outcome::Discarded { packet, .. } => done.push((packet, now, false)),
                Outcome::Retried { .. }
                | Outcome::Acknowledged { .. }
                | Outcome::Dropped { .. } => {}
            }
        }
    }
    done
}

/// Bits that each of `users` saturated Rayleigh users is served, a second, on average.
fn served(scheduler: Scheduler, users: u32) -> f64 {
    let radios = (0..users).map(|user| radio(0.0, Fading::Independent, u64::from(user)));
    let config = CellConfig {
        scheduler,
        rate: RateLaw::Proportional {
            bits_per_second: 1e6,
        },
        saturated: users,
        ..config(radios.collect())
    };
    let mut cell: Cell<()> = Cell::new(&config, Stream::new(1, "cell")).unwrap();
    let slots = 60_000;
    for _ in 0..slots {
        let now = cell.next_wakeup();
        cell.on_wakeup(now, &mut ());
    }
    let bits: f64 = (1..=users).map(|user| cell.served_bits(user)).sum();
    bits / (f64::from(slots) * config.slot.as_secs_f64())
}

/// With equal mean signals, Rayleigh fading and a rate in proportion to the signal, proportional
/// fairness serves the best of n exponential draws: H_n = 1 + 1/2 + … + 1/n times the mean rate,
/// which is round robin's (B. Hochwald, T. Marzetta & V. Tarokh, IEEE Trans. Inf. Theory 50(9),
/// 2004, for the maximum; the average T is the same for all users). 60 000 slots: a standard error
/// below 0.5 %.
#[test]
fn proportional_fairness_gains_the_harmonic_number() {
    for users in [1, 2, 4, 8, 16] {
        let fair = served(
            Scheduler::ProportionalFair {
                time_constant: 1000.0,
            },
            users,
        );
        let turns = served(Scheduler::RoundRobin, users);
        let harmonic: f64 = (1..=users).map(|k| 1.0 / f64::from(k)).sum();
        assert!((turns / 1e6 - 1.0).abs() < 0.02, "{users}: {turns}");
        assert!(
            (fair / turns / harmonic - 1.0).abs() < 0.02,
            "{users}: {fair}, {turns}"
        );
    }
}

/// At 3 dB the rate is 1.2288 Mbit/s: 2048 bits, 256 bytes a slot. 100 packets of 1500 bytes take
/// 150000/256 = 586 slots, the last one not full, and the first has arrived after 6 slots.
#[test]
fn throughput_is_that_of_the_rate() {
    let done = transfer(&config(vec![radio(3.0, Fading::None, 0)]), 100);
    assert_eq!(done.len(), 100);
    let slot = Duration::from_nanos(1_666_667);
    assert_eq!(done[0].1, Instant::ZERO + slot * 6);
    assert_eq!(done[99].1, Instant::ZERO + slot * 586);
    assert!(done.iter().map(|(packet, ..)| *packet).eq(0..100));
}

#[test]
fn rates_are_the_tables() {
    let rate = |snr_db| RateLaw::Evdo.bits_per_second(snr_db);
    assert_eq!(
        [rate(-20.0), rate(-12.5), rate(0.0)],
        [0.0, 38_400.0, 614_400.0]
    );
    assert_eq!([rate(9.4), rate(30.0)], [1_843_200.0, 2_457_600.0]);
    // Shannon at 1 MHz: 1 Mbit/s at 0 dB, 3 dB above a gap of 3 dB.
    let shannon = RateLaw::Shannon {
        bandwidth_hz: 1e6,
        gap_db: 3.0,
    };
    assert!((shannon.bits_per_second(3.0) - 1e6).abs() < 1.0);
}

/// With blocks damaged at 30 % and no limit everything arrives, in order; the time is 1/(1 - 0.3)
/// of that without, within four standard errors (4·√(0.3·0.7/5860) = 2.4 %) and the last round
/// trips.
#[test]
fn damaged_blocks_are_sent_again_and_order_is_kept() {
    let damaged = CellConfig {
        block_error: Probability::new(0.3).unwrap(),
        ..config(vec![radio(3.0, Fading::None, 0)])
    };
    let done = transfer(&damaged, 1000);
    assert!(done.iter().map(|(packet, ..)| *packet).eq(0..1000));
    assert!(done.iter().all(|(.., whole)| *whole));
    let slots = done[999].1.as_nanos() as f64 / 1_666_667.0;
    assert!((slots * 0.7 / 5860.0 - 1.0).abs() < 0.025, "{slots}");
}

/// Each block once, 5 % damaged: a packet of 1500 bytes lies in 6 or 7 blocks of 256, on average
/// 6.86, so 1 - 0.95^6.86 = 29.7 % are lost; every packet is reported, in order.
#[test]
fn a_packet_is_lost_with_any_of_its_blocks() {
    let once = CellConfig {
        block_error: Probability::new(0.05).unwrap(),
        retry_limit: RetryLimit::Attempts(NonZeroU32::MIN),
        ..config(vec![radio(3.0, Fading::None, 0)])
    };
    let done = transfer(&once, 4000);
    assert!(done.iter().map(|(packet, ..)| *packet).eq(0..4000));
    let lost = done.iter().filter(|(.., whole)| !whole).count() as f64 / 4000.0;
    assert!((lost - 0.297).abs() < 0.035, "{lost}");
}

/// A cell at rest has nothing to do, and begins with the next slot.
#[test]
fn an_idle_cell_sleeps() {
    let mut cell = Cell::new(
        &config(vec![radio(3.0, Fading::None, 0)]),
        Stream::new(1, "cell"),
    )
    .unwrap();
    assert_eq!(cell.next_wakeup(), Instant::FAR_FUTURE);
    assert!(cell.push(
        Instant::from_nanos(1_000_000_000),
        (ACCESS_POINT, 1),
        offer(),
        (),
        &mut ()
    ));
    // Slot 600 begins at 1.0000002 s.
    assert_eq!(cell.next_wakeup(), Instant::from_nanos(600 * 1_666_667));
    assert!(
        !cell.push(
            Instant::from_nanos(1_000_000_000),
            (ACCESS_POINT, 2),
            offer(),
            (),
            &mut ()
        ),
        "no such user"
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |config: CellConfig| config.check().unwrap_err().to_string();
    assert_eq!(
        refused(config(Vec::new())),
        "no user; expected at least one"
    );
    let one = || config(vec![radio(3.0, Fading::None, 0)]);
    let hasty = CellConfig {
        scheduler: Scheduler::ProportionalFair { time_constant: 0.5 },
        ..one()
    };
    assert_eq!(
        refused(hasty),
        "a time constant of 0.5 slots; expected at least 1"
    );
    let narrow = CellConfig {
        rate: RateLaw::Shannon {
            bandwidth_hz: 0.0,
            gap_db: 0.0,
        },
        ..one()
    };
    assert_eq!(refused(narrow), "a bandwidth of 0 Hz; expected more than 0");
    let still = CellConfig {
        slot: Duration::ZERO,
        ..one()
    };
    assert_eq!(refused(still), "a slot of 0 s; expected more");
}

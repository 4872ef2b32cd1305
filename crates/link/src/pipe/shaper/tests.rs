//! A rate that follows the link's.

use std::sync::Arc;

use airtcp_units::{BitRate, Duration, Instant};

use crate::delay::Delay;
use crate::frame::Transmission;
use crate::pipe::{Pipe, PipeConfig};
use crate::queue::{AutorateConfig, CakeConfig, Discipline, Tins};
use crate::random::Stream;
use crate::service::Service;
use crate::trace::mahimahi::MahimahiTrace;

const PHASE_MS: u64 = 20_000;

const PACKET: Transmission = Transmission {
    bytes: 1500,
    flow: 0,
    index: Transmission::UNNUMBERED,
};

/// 12 Mbit/s, 3 Mbit/s and 12 Mbit/s for 20 s each.
fn stepping() -> Service {
    let mut lines = String::new();
    for ms in 1..=3 * PHASE_MS {
        let is_slow = (PHASE_MS..2 * PHASE_MS).contains(&ms);
        if !is_slow || ms % 4 == 0 {
            lines += &format!("{ms}\n");
        }
    }
    Service::Mahimahi(Arc::new(
        MahimahiTrace::parse(lines.as_bytes(), "steps").unwrap(),
    ))
}

fn shaped(autorate: Option<AutorateConfig>) -> Pipe<u64> {
    let mut config = PipeConfig::line(stepping(), Delay::Constant(Duration::from_millis(20)));
    config.discipline = Discipline::Cake(CakeConfig {
        rate: Some(BitRate::from_bps(6_000_000)),
        tins: Tins::BestEffort,
        autorate,
        ..CakeConfig::default()
    });
    Pipe::new(config, Stream::new(1, "link"))
}

/// Time that packets take from the shaper over the link, in milliseconds, and its rate in kbit/s,
/// averaged over the last ten seconds of each phase. Packets always wait for the shaper.
fn over_the_steps(mut pipe: Pipe<u64>) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    for phase in 0..3 {
        let (mut waits, mut rates, mut samples) = (0.0, 0.0, 0.0);
        for ms in phase * PHASE_MS..(phase + 1) * PHASE_MS {
            let now = Instant::ZERO + Duration::from_millis(ms);
            while pipe.pop(now).is_some() {}
            while pipe.take_discarded().is_some() {}
            while pipe.shaper.as_ref().unwrap().packets() < 20 {
                pipe.push(now, PACKET, ms);
            }
            if ms >= phase * PHASE_MS + PHASE_MS / 2 {
                let wait = pipe.server.next_start(now) - now;
                waits += wait.as_nanos() as f64 / 1e6;
                let rate = pipe.shaper.as_ref().unwrap().rate();
                rates += rate.map_or(0.0, |rate| rate.as_bps() as f64 / 1e3);
                samples += 1.0;
            }
        }
        found.push((waits / samples, rates / samples));
    }
    found
}

/// The rate follows the link's down to a quarter and back up, and the queue at the shaper stays
/// about the delay above which a probe counts as delayed, 30 ms. A constant rate of half the link's
/// is 3 Mbit/s too much in the middle: after 15 s that queues 45 Mbit; 15 Mbit leave before the
/// link is fast and 30 Mbit in 2.5 s afterwards, so for 7.5 s.
#[test]
fn a_rate_follows_the_links() {
    let followed = over_the_steps(shaped(Some(AutorateConfig::default())));
    for ((wait, rate), links) in followed.iter().zip([12_000.0, 3_000.0, 12_000.0]) {
        assert!((2.0..60.0).contains(wait), "{followed:?}");
        assert!((0.8 * links..1.1 * links).contains(rate), "{followed:?}");
    }
    let constant = over_the_steps(shaped(None));
    assert!(constant[0].0 < 2.0, "{constant:?}");
    assert!((7_400.0..7_600.0).contains(&constant[1].0), "{constant:?}");
}

/// Without a rate it begins at the link's mean: 12, 3 and 12 Mbit/s are 9 Mbit/s.
#[test]
fn the_base_is_the_links_mean_rate() {
    let mut config = PipeConfig::line(stepping(), Delay::Constant(Duration::ZERO));
    config.discipline = Discipline::Cake(CakeConfig {
        autorate: Some(AutorateConfig::default()),
        ..CakeConfig::default()
    });
    let pipe: Pipe<u64> = Pipe::new(config.clone(), Stream::new(1, "link"));
    let rate = pipe.shaper.as_ref().unwrap().rate().unwrap();
    assert!((8_990_000..9_010_000).contains(&rate.as_bps()), "{rate}");
    // A link without a rate makes nothing wait.
    config.service = Service::Unlimited;
    assert!(
        Pipe::<u64>::new(config, Stream::new(1, "link"))
            .shaper
            .is_none()
    );
}

/// Probes wake nobody: a pipe in which nothing waits has nothing to do.
#[test]
fn a_pipe_at_rest_sleeps() {
    let mut pipe = shaped(Some(AutorateConfig::default()));
    assert_eq!(pipe.next_wakeup(), Instant::FAR_FUTURE);
    pipe.push(Instant::ZERO, PACKET, 1);
    let mut now = Instant::ZERO;
    while pipe.next_wakeup() < Instant::FAR_FUTURE {
        now = pipe.next_wakeup();
        while pipe.pop(now).is_some() {}
    }
    assert!(now <= Instant::ZERO + Duration::from_millis(25), "{now}");
}

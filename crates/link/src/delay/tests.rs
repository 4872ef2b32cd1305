//! Delays that vary, against tables by hand and closed forms.

use super::*;
use crate::trace::conditions::Conditions;
use airtcp_units::Probability;

const MILLI: u64 = 1_000_000;

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * MILLI)
}

const fn constant(ms: u64) -> VariableDelay {
    VariableDelay {
        base: BaseDelay::Constant(Duration::from_millis(ms)),
        jitter: None,
        late: None,
        held: None,
    }
}

fn jitter(shape: JitterShape, mean: Duration, order: DeliveryOrder) -> VariableDelay {
    VariableDelay {
        jitter: Some(Jitter { shape, mean, order }),
        ..constant(0)
    }
}

fn process(delay: VariableDelay, seed: u64) -> DelayProcess {
    DelayProcess::new(
        Delay::Variable(Box::new(delay)),
        Stream::new(seed, "link.data"),
    )
}

/// Delays in seconds of `count` packets of flow 3, one every `spacing`.
fn delays(delay: VariableDelay, count: u64, spacing: Duration) -> Vec<f64> {
    let mut process = process(delay, 5);
    let of = |index| {
        let departure = Instant::ZERO + spacing * index;
        let transmission = Transmission {
            bytes: 1500,
            flow: 3,
            index,
        };
        (process.arrival(departure, &transmission) - departure).as_secs_f64()
    };
    (0..count).map(of).collect()
}

/// The largest distance between the empirical distribution and `cumulative`, times √n (Kolmogorov
/// and Smirnov; 1.95 is exceeded in 1 of 1000 samples).
fn distance(mut draws: Vec<f64>, cumulative: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    let of = |(place, &draw): (usize, &f64)| {
        let (below, above) = (place as f64 / count, (place + 1) as f64 / count);
        let expected = cumulative(draw);
        (expected - below).abs().max((above - expected).abs())
    };
    draws.iter().enumerate().map(of).fold(0.0, f64::max) * count.sqrt()
}

/// Packets far apart cannot meet: each has the jitter that was asked for.
#[test]
fn jitter_has_its_distribution() {
    let mean = Duration::from_millis(10);
    let spacing = Duration::from_secs(10);
    for order in [DeliveryOrder::InOrder, DeliveryOrder::Reorder] {
        let uniform = delays(jitter(JitterShape::Uniform, mean, order), 20_000, spacing);
        assert!(distance(uniform, |x| (x / 0.02).min(1.0)) < 1.95);
        let exponential = delays(
            jitter(JitterShape::Exponential, mean, order),
            20_000,
            spacing,
        );
        assert!(distance(exponential, |x| 1.0 - (-x / 0.01).exp()) < 1.95);
    }
}

/// In order, a packet arrives no earlier than those before it: its delay is the largest of their
/// jitters less the time since, so that P(delay ≤ x) is the product of F(x + k·spacing) over k ≥ 0.
/// Neighbours depend on each other, so that only every fifth packet is looked at: with a jitter of
/// up to 20 ms and 5 ms from one to the next, four others can hold one up.
#[test]
fn jitter_in_order_is_the_largest_of_those_before() {
    let mean = Duration::from_millis(10);
    let spacing = Duration::from_millis(5);
    let all = delays(
        jitter(JitterShape::Uniform, mean, DeliveryOrder::InOrder),
        100_000,
        spacing,
    );
    let cumulative = |x: f64| {
        (0..4)
            .map(|k| ((x + 0.005 * f64::from(k)) / 0.02).min(1.0))
            .product()
    };
    let apart: Vec<f64> = all.iter().copied().skip(4).step_by(5).collect();
    assert!(distance(apart, cumulative) < 1.95);
    let arrivals = (0_u64..)
        .zip(&all)
        .map(|(index, delay)| index as f64 * 0.005 + delay);
    assert!(arrivals.is_sorted_by(|before, after| *before <= *after + 1e-9));
}

/// A share p of n packets, within 4.5 standard errors; each comes late by just the time asked for,
/// and the others do not wait for it.
#[test]
fn late_packets_are_a_share() {
    let late = Late {
        share: Probability::new(0.02).unwrap(),
        by: Duration::from_millis(7),
    };
    let delay = VariableDelay {
        late: Some(late),
        jitter: Some(Jitter {
            shape: JitterShape::Uniform,
            mean: Duration::ZERO,
            order: DeliveryOrder::InOrder,
        }),
        ..constant(25)
    };
    let all = delays(delay, 50_000, Duration::from_millis(1));
    let count = all.iter().filter(|&&delay| delay == 0.032).count() as f64;
    let others = all.iter().filter(|&&delay| delay == 0.025).count() as f64;
    assert_eq!(count + others, 50_000.0);
    let error = (50_000.0 * 0.02 * 0.98_f64).sqrt();
    assert!((count - 1000.0).abs() < 4.5 * error, "{count} of 50000");
}

/// Flow 0 sends ten times as much in the second run: flow 1 meets the same jitter and the same
/// lateness.
#[test]
fn a_flow_that_sends_more_shifts_no_draw_of_another() {
    let delay = VariableDelay {
        late: Some(Late {
            share: Probability::new(0.3).unwrap(),
            by: Duration::from_millis(7),
        }),
        ..jitter(
            JitterShape::Exponential,
            Duration::from_millis(3),
            DeliveryOrder::Reorder,
        )
    };
    let of_flow_1 = |others: u64| {
        let mut process = process(delay.clone(), 9);
        let mut arrivals = Vec::new();
        for index in 0..200 {
            let departure = at_ms(index);
            for other in 0..others {
                let transmission = Transmission {
                    bytes: 1500,
                    flow: 0,
                    index: index * others + other,
                };
                process.arrival(departure, &transmission);
            }
            let transmission = Transmission {
                bytes: 1500,
                flow: 1,
                index,
            };
            arrivals.push(process.arrival(departure, &transmission));
        }
        arrivals
    };
    assert_eq!(of_flow_1(1), of_flow_1(10));
}

/// A row holds from its time on; the first also before it.
#[test]
fn recorded_delays_go_by_time() {
    let text = b"time_ms,delay_ms,loss\n100,30,0\n200,12.5,0.5\n300,40,1\n";
    let conditions = Arc::new(Conditions::parse(text, "recorded").unwrap());
    let delay = VariableDelay {
        base: BaseDelay::Recorded {
            conditions,
            order: DeliveryOrder::Reorder,
        },
        ..constant(0)
    };
    let mut process = process(delay, 1);
    let transmission = Transmission {
        bytes: 1500,
        flow: 0,
        index: 0,
    };
    let found = [0, 99, 100, 199, 200, 299, 300, 9000].map(|ms| {
        let arrival = process.arrival(at_ms(ms), &transmission);
        (arrival - at_ms(ms)).as_millis_f64()
    });
    assert_eq!(found, [30.0, 30.0, 30.0, 30.0, 12.5, 12.5, 40.0, 40.0]);
}

/// A delay that becomes shorter lets a packet overtake another, unless the order is kept: then it
/// arrives with the one before it, as after a queue or a radio that resends.
#[test]
fn recorded_delays_keep_the_order_where_asked() {
    let text = b"time_ms,delay_ms,loss\n0,100,0\n50,10,0\n120,20,0\n";
    let arrivals = |order| {
        let conditions = Arc::new(Conditions::parse(text, "x").unwrap());
        let delay = Delay::Variable(Box::new(VariableDelay {
            base: BaseDelay::Recorded { conditions, order },
            jitter: None,
            late: None,
            held: None,
        }));
        let mut process = DelayProcess::new(delay, Stream::new(1, "link.data"));
        let transmission = Transmission {
            bytes: 100,
            flow: 0,
            index: 0,
        };
        [40_u64, 60, 80, 130].map(|ms| {
            let at = process.arrival(Instant::from_nanos(ms * 1_000_000), &transmission);
            at.as_nanos() / 1_000_000
        })
    };
    assert_eq!(arrivals(DeliveryOrder::Reorder), [140, 70, 90, 150]);
    assert_eq!(arrivals(DeliveryOrder::InOrder), [140, 140, 140, 150]);
}

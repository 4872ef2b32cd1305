//! The error models against their closed forms, and against each other's company.

use super::*;
use proptest::prelude::*;

const SAMPLES: u64 = 400_000;

fn chance(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

fn losses_of(model: ErrorModel, bytes: u32, flow: u32, count: u64) -> Vec<bool> {
    let mut process = ErrorProcess::new(model, Stream::new(42, "error"));
    (0..count)
        .map(|index| process.loses(&Transmission { bytes, flow, index }))
        .collect()
}

fn share(losses: &[bool]) -> f64 {
    losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
}

/// Five standard errors of a mean of independent draws.
fn five_sigma(probability: f64) -> f64 {
    5.0 * (probability * (1.0 - probability) / SAMPLES as f64).sqrt()
}

#[test]
fn independent_losses_are_as_frequent_as_asked() {
    for probability in [0.001, 0.02, 0.1, 0.5, 0.9] {
        let losses = losses_of(
            ErrorModel::Independent(chance(probability)),
            1500,
            3,
            SAMPLES,
        );
        assert!(
            (share(&losses) - probability).abs() < five_sigma(probability),
            "{probability}"
        );
        // Independent: after a loss another is as likely as ever.
        let after_loss: Vec<bool> = losses
            .windows(2)
            .filter(|pair| pair[0])
            .map(|pair| pair[1])
            .collect();
        let tolerance = five_sigma(probability) / probability.sqrt();
        assert!(
            (share(&after_loss) - probability).abs() < tolerance,
            "{probability}"
        );
    }
}

#[test]
fn certainty_and_impossibility_are_exact() {
    for (probability, lost) in [(Probability::NEVER, false), (Probability::ALWAYS, true)] {
        for model in [
            ErrorModel::Independent(probability),
            ErrorModel::BitErrors(probability),
        ] {
            assert!(
                losses_of(model, 40, 0, 10_000)
                    .into_iter()
                    .all(|loss| loss == lost)
            );
        }
    }
    assert!(
        losses_of(ErrorModel::None, 40, 0, 100)
            .into_iter()
            .all(|loss| !loss)
    );
}

#[test]
fn bit_errors_lose_packets_by_their_size() {
    // 1 - (1 - 1e-5)^(8·bytes)
    for (bytes, expected) in [
        (1500, 0.113_080_095),
        (40, 0.003_194_899),
        (576, 0.045_034_3),
    ] {
        let losses = losses_of(ErrorModel::BitErrors(chance(1e-5)), bytes, 0, SAMPLES);
        assert!(
            (share(&losses) - expected).abs() < five_sigma(expected),
            "{bytes}"
        );
    }
}

#[test]
fn a_block_loses_its_last_transmissions() {
    let losses = losses_of(ErrorModel::Block { period: 5, lost: 2 }, 1500, 0, 12);
    let lost: Vec<usize> = (0..12).filter(|&index| losses[index]).collect();
    assert_eq!(lost, [3, 4, 8, 9]);
    assert!(
        losses_of(ErrorModel::Block { period: 3, lost: 7 }, 1, 0, 9)
            .into_iter()
            .all(|l| l)
    );
    for nothing in [
        ErrorModel::Block { period: 0, lost: 7 },
        ErrorModel::Block { period: 4, lost: 0 },
    ] {
        assert!(losses_of(nothing, 1, 0, 9).into_iter().all(|lost| !lost));
    }
}

/// Gilbert 1960: bad with probability P/(P+Q), bad periods of mean length 1/Q.
#[test]
fn gilbert_elliott_has_its_stationary_loss_and_burst_length() {
    for (enter, leave, in_good, in_bad) in [
        (0.01, 0.2, 0.0, 1.0),
        (0.1, 0.5, 0.001, 0.7),
        (0.3, 0.9, 0.0, 1.0),
        (0.3, 0.9, 0.0, 0.5),
        (0.002, 0.05, 0.01, 0.5),
    ] {
        let parameters = GilbertElliott {
            good_to_bad: chance(enter),
            bad_to_good: chance(leave),
            loss_in_good: chance(in_good),
            loss_in_bad: chance(in_bad),
        };
        let bad = enter / (enter + leave);
        let expected = (1.0 - bad) * in_good + bad * in_bad;
        assert!((parameters.mean_loss() - expected).abs() < 1e-12);
        let losses = losses_of(ErrorModel::GilbertElliott(parameters), 1500, 1, SAMPLES);
        // The state forgets by 1-P-Q a step, which widens the error of the mean at most so far.
        let memory = 1.0 - enter - leave;
        let widening = ((1.0 + memory) / (1.0 - memory)).max(1.0).sqrt();
        assert!(
            (share(&losses) - expected).abs() < widening * five_sigma(expected),
            "{expected}"
        );
        if in_good == 0.0 && in_bad == 1.0 {
            let bursts = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
            let mean = losses.iter().filter(|lost| **lost).count() as f64 / bursts;
            let sigma = ((1.0 - leave) / (leave * leave) / bursts).sqrt();
            assert!((mean - 1.0 / leave).abs() < 5.0 * sigma, "{mean} {leave}");
        }
    }
}

/// Over many flows the first transmission already meets the long-run loss.
#[test]
fn gilbert_elliott_starts_in_its_stationary_distribution() {
    let parameters = GilbertElliott {
        good_to_bad: chance(0.01),
        bad_to_good: chance(0.03),
        loss_in_good: Probability::NEVER,
        loss_in_bad: Probability::ALWAYS,
    };
    let mut process = ErrorProcess::new(
        ErrorModel::GilbertElliott(parameters),
        Stream::new(1, "error"),
    );
    let first = |flow| {
        process.loses(&Transmission {
            bytes: 1,
            flow,
            index: 0,
        })
    };
    let losses: Vec<bool> = (0..20_000).map(first).collect();
    assert!((share(&losses) - 0.25).abs() < 5.0 * (0.25_f64 * 0.75 / 20_000.0).sqrt());
    let frozen = GilbertElliott {
        good_to_bad: Probability::NEVER,
        ..parameters
    };
    assert!(
        losses_of(ErrorModel::GilbertElliott(frozen), 1, 0, 999)
            .into_iter()
            .all(|l| !l)
    );
}

fn any_model() -> impl Strategy<Value = ErrorModel> {
    let probability = (0.0..=1.0).prop_map(chance);
    let four = (
        probability.clone(),
        probability.clone(),
        probability.clone(),
        probability.clone(),
    );
    prop_oneof![
        probability.clone().prop_map(ErrorModel::Independent),
        (0.0..0.001).prop_map(|rate| ErrorModel::BitErrors(chance(rate))),
        (0..20_u32, 0..20_u32).prop_map(|(period, lost)| ErrorModel::Block { period, lost }),
        four.prop_map(|(good_to_bad, bad_to_good, loss_in_good, loss_in_bad)| {
            ErrorModel::GilbertElliott(GilbertElliott {
                good_to_bad,
                bad_to_good,
                loss_in_good,
                loss_in_bad,
            })
        }),
    ]
}

/// Packets that are listed are lost, of the flow they are listed for, and no others.
#[test]
fn listed_packets_are_lost() {
    let lost = LostPackets::new(vec![(3, 5), (3, 0), (2, 1)]);
    let losses = losses_of(ErrorModel::Listed(Arc::new(lost)), 1500, 3, 8);
    let places: Vec<usize> = (0..8).filter(|&place| losses[place]).collect();
    assert_eq!(places, [0, 5]);
}

/// A recorded loss depends on the time of departure: no packet, a tenth, all.
#[test]
fn recorded_losses_go_by_time() {
    let text = b"time_ms,delay_ms,loss\n0,0,0\n10,0,0.1\n20,0,1\n";
    let conditions = Conditions::parse(text, "recorded").unwrap();
    let model = ErrorModel::Recorded(Arc::new(conditions));
    let mut process = ErrorProcess::new(model, Stream::new(42, "error"));
    for (ms, expected) in [(9, 0.0), (10, 0.1), (20, 1.0)] {
        let departure = Instant::from_nanos(ms * 1_000_000);
        let losses: Vec<bool> = (0..SAMPLES)
            .map(|index| {
                let transmission = Transmission {
                    bytes: 1500,
                    flow: 1,
                    index,
                };
                assert!(!process.loses(&transmission));
                process.loses_at(departure, &transmission)
            })
            .collect();
        assert!(
            (share(&losses) - expected).abs() <= five_sigma(expected),
            "at {ms} ms"
        );
    }
}

proptest! {
    #[test]
    fn what_a_flow_loses_is_its_own_affair(
        model in any_model(),
        others in proptest::collection::vec(proptest::collection::vec(0..6_u32, 0..4), 1..200),
    ) {
        let alone = losses_of(model.clone(), 1500, 3, others.len() as u64);
        let mut process = ErrorProcess::new(model, Stream::new(42, "error"));
        let mut sent = [0_u64; 7];
        let mut in_company = Vec::new();
        for before in others {
            // Flow 3 is the one that is watched: its company never sends as it.
            for flow in before.into_iter().map(|flow| if flow == 3 { 6 } else { flow }) {
                let index = sent[flow as usize];
                process.loses(&Transmission { bytes: 40, flow, index });
                sent[flow as usize] += 1;
            }
            let index = sent[3];
            in_company.push(process.loses(&Transmission { bytes: 1500, flow: 3, index }));
            sent[3] += 1;
        }
        prop_assert_eq!(in_company, alone);
    }
}

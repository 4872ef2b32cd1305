//! Small changes of a link from seed to seed.
//!
//! A deterministic run shows one phase of the packets at a queue, and changing the link by a
//! thousandth may show another (Floyd & Jacobson, "On traffic phase effects in packet-switched
//! gateways", 1992, §2). No link is known that precisely: with `perturb`, seeds differ by the
//! uncertainty of the link, and a comparison over them has an interval.

use airtcp_link::{BaseDelay, Delay, PipeConfig, QueueLimit, Service, Stream};
use airtcp_network::NetworkConfig;
use airtcp_units::{BitRate, Duration, Probability};

use crate::Scenario;
use crate::flow::FlowConfig;

/// Random draws for each quantity of a pipe.
#[derive(Clone, Copy, Debug)]
enum Quantity {
    Rate,
    Delay,
    Queue,
    PolicerRate,
    PolicerBurst,
}

/// Start times vary by up to a share of this. It does not depend on the duration, so that a longer
/// run is the continuation of a shorter one.
const START_SCALE: Duration = Duration::from_secs(20);

/// Delays each flow's start by up to `perturb` of [`START_SCALE`].
pub(super) fn delay_starts(scenario: &Scenario, seed: u64, flows: &mut [FlowConfig]) {
    if scenario.perturb == Probability::NEVER {
        return;
    }
    let draws = Stream::new(seed, "perturb.start");
    let most = START_SCALE.as_secs_f64() * scenario.perturb.as_f64();
    for (flow, index) in flows.iter_mut().zip(0..) {
        let delay = Duration::from_secs_f64(most * draws.uniform(index));
        flow.start += delay.unwrap_or_default();
    }
}

/// Varies every pipe by up to `perturb`.
pub(super) fn change_pipes(scenario: &Scenario, seed: u64, network: &mut NetworkConfig) {
    if scenario.perturb == Probability::NEVER {
        return;
    }
    let share = scenario.perturb.as_f64();
    for (name, pipe) in &mut network.pipes {
        let draws = Stream::new(seed, &format!("perturb.{name}"));
        change(pipe, |quantity| {
            1.0 + share * (2.0 * draws.uniform(quantity as u64) - 1.0)
        });
    }
}

/// Multiplies each quantity by its factor. Recorded rates and delays stay as they are: flows meet
/// them at other times because their starts vary.
fn change(pipe: &mut PipeConfig, factor: impl Fn(Quantity) -> f64) {
    if let Service::Constant(rate) | Service::Suspended { rate, .. } = &mut pipe.service {
        *rate = rate_times(*rate, factor(Quantity::Rate));
    }
    let delay = match &mut pipe.delay {
        Delay::Constant(delay) => Some(delay),
        Delay::Variable(variable) => match &mut variable.base {
            BaseDelay::Constant(delay) => Some(delay),
            BaseDelay::Recorded { .. } => None,
        },
        Delay::Recorded { .. } | Delay::Modelled { .. } => None,
    };
    if let Some(delay) = delay {
        let changed = delay.as_secs_f64() * factor(Quantity::Delay);
        *delay = Duration::from_secs_f64(changed).unwrap_or(*delay);
    }
    if let QueueLimit::Bytes(bytes) | QueueLimit::Both { bytes, .. } = &mut pipe.queue {
        *bytes = times(*bytes, factor(Quantity::Queue));
    }
    if let Some(policer) = &mut pipe.policer {
        policer.rate = rate_times(policer.rate, factor(Quantity::PolicerRate));
        policer.burst = times(policer.burst, factor(Quantity::PolicerBurst));
    }
}

fn rate_times(rate: BitRate, factor: f64) -> BitRate {
    BitRate::from_bps(times(rate.as_bps(), factor))
}

/// The nearest whole number, and at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "above zero, and rounded"
)]
fn times(value: u64, factor: f64) -> u64 {
    ((value as f64 * factor + 0.5) as u64).max(1)
}

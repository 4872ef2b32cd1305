//! A run in which agents steer flows: a step is a monitor interval, after which each agent observes
//! its flow and acts.
//!
//! The interval is the longest smoothed round trip of the agents' flows, so that every agent sees
//! the effect of its last action (Aurora and Orca, one round trip). Steps without an effect change
//! nothing: with a multiplier of one a run is that of [`run`](crate::run()).

mod many;
mod observation;
mod steered;

use std::fmt;
use std::sync::Arc;

use airtcp_remedies::bpf::unsuited;
use airtcp_scenario::{Scenario, build};
use airtcp_tcp::config::CongestionControl;
use airtcp_units::{BitRate, Duration, Instant};

use crate::engine::{Simulation, Watch};
pub use many::{Environments, StepError};
use observation::Interval;
pub use observation::{OBSERVED, VALUES};

/// An action's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Multiplies the congestion window of the scenario's control (Orca, Abbasloo et al., SIGCOMM
    /// 2020, eq. 1).
    Window,
    /// Multiplies the pace, in place of the scenario's control (Aurora, Jay et al., ICML 2019, §4).
    Pace,
}

/// How agents steer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steering {
    /// An action's effect.
    pub action: Action,
    /// Strength of an action: 1 multiplies by 2 at most.
    pub gain: f64,
    /// Least length of a step.
    pub least_interval: Duration,
    /// Number of flows with an agent, the first ones.
    pub agents: usize,
}

impl Steering {
    /// The multiplier of an action from -1 to 1: for a window 2 to the power of gain times action
    /// (Orca), for a pace 1 plus that product, or 1 by it (Aurora).
    fn factor(&self, action: f64) -> f64 {
        let strength = self.gain * action.clamp(-1.0, 1.0);
        match self.action {
            Action::Window => libm::exp2(strength),
            Action::Pace if strength < 0.0 => 1.0 / (1.0 - strength),
            Action::Pace => 1.0 + strength,
        }
    }
}

/// The reason for which a scenario has no such environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentError {
    /// There are fewer flows than agents: the number of flows.
    Flows(usize),
    /// A flow has datagrams, or a proxy, in place of a connection: its number.
    NoConnection(usize),
    /// The scenario's control is a model of the path, which sets its window itself.
    Model,
    /// A key of `[tcp]` that a steered pace needs, and its value.
    Unsuited(&'static str, &'static str),
    /// The control has stopped: why.
    Stopped(String),
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flows(flows) => write!(
                f,
                "flows.count = {flows}: expected one flow for each agent at least"
            ),
            Self::NoConnection(flow) => write!(
                f,
                "flow {flow} is no TCP connection from end to end; an agent steers only those"
            ),
            Self::Model => f.write_str(
                "tcp.congestion_control: a model of the path sets its window itself; set \"cubic\" \
                 or \"reno\", or let actions set the pace",
            ),
            Self::Unsuited(key, value) => write!(
                f,
                "tcp.{key}: a steered pace needs {value}; set tcp.profile = \"linux\""
            ),
            Self::Stopped(why) => write!(f, "the congestion control stopped: {why}"),
        }
    }
}

impl std::error::Error for EnvironmentError {}

/// A run steered by agents.
#[derive(Debug)]
pub struct Environment {
    simulation: Simulation,
    steering: Steering,
    interval: Interval,
    observations: Vec<[f32; OBSERVED]>,
    end: Instant,
}

impl Environment {
    /// Creates a run, and advances it until every agent's connection is open and has measured a
    /// round trip, or to its end.
    ///
    /// # Errors
    /// The scenario's flows cannot be steered so.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        steering: Steering,
    ) -> Result<Self, EnvironmentError> {
        let mut layout = build(scenario, seed);
        let (flows, agents) = (scenario.flows.count as usize, steering.agents);
        if flows < agents {
            return Err(EnvironmentError::Flows(flows));
        }
        for (index, flow) in layout.flows.iter_mut().take(agents).enumerate() {
            if flow.datagrams.is_some() || flow.proxy.is_some() {
                return Err(EnvironmentError::NoConnection(index));
            }
            if steering.action == Action::Pace {
                let mut tcp = *flow.tcp;
                tcp.congestion = CongestionControl::External(steered::steered());
                if let Some((key, value)) = unsuited(&tcp) {
                    return Err(EnvironmentError::Unsuited(key, value));
                }
                flow.tcp = Arc::new(tcp);
            }
        }
        let mut environment = Self {
            simulation: Simulation::new(layout, seed),
            steering,
            interval: Interval::new(agents),
            observations: vec![[0.0; OBSERVED]; agents],
            end: Instant::ZERO + scenario.duration,
        };
        for agent in 0..agents {
            if steering.action == Action::Window && !environment.steer(agent, 0.0) {
                return Err(EnvironmentError::Model);
            }
        }
        while !environment.is_finished() && !environment.is_open() {
            environment.advance(steering.least_interval);
        }
        environment.observe();
        Ok(environment)
    }

    /// Lets every agent act, and advances by an interval.
    ///
    /// # Errors
    /// A flow's control has stopped.
    pub fn step(&mut self, actions: &[f64]) -> Result<(), EnvironmentError> {
        for (agent, action) in actions.iter().enumerate().take(self.steering.agents) {
            self.steer(agent, *action);
        }
        let flows = self.simulation.flows().iter();
        let round_trips = flows
            .take(self.steering.agents)
            .filter_map(|flow| flow.client().sender().rtt().srtt());
        let longest = round_trips.max().unwrap_or(Duration::ZERO);
        self.advance(longest.max(self.steering.least_interval));
        self.observe();
        let mut flows = self.simulation.flows().iter();
        match flows.find_map(|flow| flow.stopped_control()) {
            Some(fault) => Err(EnvironmentError::Stopped(fault.to_owned())),
            None => Ok(()),
        }
    }

    /// The observation of each agent.
    #[must_use]
    pub fn observations(&self) -> &[[f32; OBSERVED]] {
        &self.observations
    }

    /// Whether the run has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.now() >= self.end
    }

    /// The current virtual time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.simulation.now()
    }

    fn is_open(&self) -> bool {
        let mut agents = self.simulation.flows().iter().take(self.steering.agents);
        agents.all(|flow| flow.is_opened() && flow.client().sender().rtt().srtt().is_some())
    }

    fn advance(&mut self, by: Duration) {
        let until = (self.now() + by).min(self.end);
        let mut watch: &mut dyn Watch = &mut self.interval;
        self.simulation.run_until(until, &mut watch);
    }

    fn observe(&mut self) {
        let now = self.now();
        for (agent, flow) in self.simulation.flows().iter().enumerate() {
            if let Some(observation) = self.observations.get_mut(agent) {
                *observation = self.interval.end(agent, flow, now);
            }
        }
    }

    /// Applies an action, and sends any data that it allows. Returns whether it has an effect.
    fn steer(&mut self, agent: usize, action: f64) -> bool {
        let (now, steering) = (self.now(), self.steering);
        let factor = steering.factor(action);
        let Ok(flow) = u32::try_from(agent) else {
            return false;
        };
        let mut watch: &mut dyn Watch = &mut self.interval;
        self.simulation
            .steer(flow, &mut watch, |sender| match steering.action {
                Action::Window => sender.scale_window(factor),
                Action::Pace => {
                    let pace = sender.pace().unwrap_or_default();
                    sender.set_pace(now, scaled(pace, factor))
                }
            })
    }
}

/// A rate times `factor`, within a kilobit and a terabit per second.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate within bounds"
)]
fn scaled(rate: BitRate, factor: f64) -> BitRate {
    let bits = (rate.as_bps() as f64 * factor).clamp(1e3, 1e12);
    BitRate::from_bps(bits as u64)
}

#[cfg(test)]
mod tests;

//! Environments side by side, advanced by a pool of threads.

use std::fmt;

use airtcp_scenario::Scenario;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Environment, EnvironmentError, OBSERVED, Steering};

/// Stack of a thread; see [`run_many`](crate::run_many).
const STACK_BYTES: usize = 256 << 20;

/// An environment that could not take a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepError {
    /// Its number.
    pub environment: usize,
    /// Why.
    pub error: EnvironmentError,
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "environment {}: {}", self.environment, self.error)
    }
}

impl std::error::Error for StepError {}

/// Any number of environments, steered alike.
#[derive(Debug)]
pub struct Environments {
    steering: Steering,
    each: Vec<Option<Environment>>,
    pool: Option<ThreadPool>,
}

impl Environments {
    /// Creates `count` environments without runs, for `threads` threads (0: one per core; 1: the
    /// caller's).
    #[must_use]
    pub fn new(count: usize, steering: Steering, threads: usize) -> Self {
        let builder = ThreadPoolBuilder::new()
            .num_threads(threads.min(count))
            .stack_size(STACK_BYTES);
        Self {
            steering,
            each: (0..count).map(|_| None).collect(),
            // No threads are available: the results are the same without.
            pool: (threads != 1 && count > 1)
                .then(|| builder.build().ok())
                .flatten(),
        }
    }

    /// Begins a run in one environment.
    ///
    /// # Errors
    /// As [`Environment::new`].
    pub fn reset(
        &mut self,
        index: usize,
        scenario: &Scenario,
        seed: u64,
    ) -> Result<(), EnvironmentError> {
        let environment = Environment::new(scenario, seed, self.steering)?;
        if let Some(place) = self.each.get_mut(index) {
            *place = Some(environment);
        }
        Ok(())
    }

    /// Takes a step in every environment that `chosen` names and that has not finished, with the
    /// actions of its agents.
    ///
    /// # Errors
    /// The first environment that could not.
    pub fn step(&mut self, actions: &[f64], chosen: &[bool]) -> Result<(), StepError> {
        let agents = self.steering.agents.max(1);
        let Some(pool) = &self.pool else {
            let acts = actions.chunks(agents);
            let each = self.each.iter_mut().zip(acts).zip(chosen).enumerate();
            return each
                .into_iter()
                .try_for_each(|(number, ((place, acts), chosen))| {
                    step(number, place.as_mut().filter(|_| *chosen), acts)
                });
        };
        let stepped: Vec<_> = pool.install(|| {
            let acts = actions.par_chunks(agents);
            let each = self.each.par_iter_mut().zip(acts).zip(chosen).enumerate();
            each.map(|(number, ((place, acts), chosen))| {
                step(number, place.as_mut().filter(|_| *chosen), acts)
            })
            .collect()
        });
        stepped.into_iter().collect()
    }

    /// The environments; `None` before the first reset.
    pub fn each(&self) -> impl Iterator<Item = Option<&Environment>> {
        self.each.iter().map(Option::as_ref)
    }

    /// Number of agents in each.
    #[must_use]
    pub const fn agents(&self) -> usize {
        self.steering.agents
    }

    /// Writes the observations of all agents, environment by environment, to `out`.
    pub fn write_observations(&self, out: &mut [f32]) {
        let places = out.chunks_mut(self.steering.agents.max(1) * OBSERVED);
        for (environment, place) in self.each.iter().zip(places) {
            let Some(environment) = environment else {
                continue;
            };
            for (value, place) in environment.observations().as_flattened().iter().zip(place) {
                *place = *value;
            }
        }
    }
}

/// Takes a step in environment `number`, unless it has finished.
fn step(
    number: usize,
    environment: Option<&mut Environment>,
    actions: &[f64],
) -> Result<(), StepError> {
    match environment.filter(|one| !one.is_finished()) {
        None => Ok(()),
        Some(environment) => environment.step(actions).map_err(|error| StepError {
            environment: number,
            error,
        }),
    }
}

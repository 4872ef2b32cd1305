//! Many runs in parallel, one per thread. A run's result does not depend on their number.

use std::borrow::Borrow;
use std::sync::atomic::{AtomicBool, Ordering};

use airtcp_scenario::Scenario;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::{Observe, RunError, RunResult, run};

/// Between hosts without delay, such as a proxy on the sender's host, a packet and the packets it
/// causes are nested calls, as deep as the proxy's buffer is long. Unused stack takes no memory.
const STACK_BYTES: usize = 256 << 20;

/// Runs each scenario with its seed, on `threads` threads (0: one per core), and returns the
/// results in the order of `cells`. `on_done` is called as each finishes, from its thread, and
/// returns whether to continue; once it returns false, runs in progress end early as
/// [`RunError::Interrupted`].
pub fn run_many<S: Borrow<Scenario> + Sync>(
    cells: &[(S, u64)],
    threads: usize,
    on_done: &(dyn Fn(usize, &RunResult) -> bool + Sync),
) -> Vec<Result<RunResult, RunError>> {
    let stopped = AtomicBool::new(false);
    let go_on = || !stopped.load(Ordering::Relaxed);
    let one = |(index, (scenario, seed)): (usize, &(S, u64))| {
        if !go_on() {
            return Err(RunError::Interrupted);
        }
        let result = run(scenario.borrow(), *seed, &Observe::default(), &|_| go_on())?;
        if !on_done(index, &result) {
            stopped.store(true, Ordering::Relaxed);
        }
        Ok(result)
    };
    match ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK_BYTES)
        .build()
    {
        Ok(pool) => pool.install(|| cells.par_iter().enumerate().map(one).collect()),
        // No threads are available: the results are the same without.
        Err(_) => cells.iter().enumerate().map(one).collect(),
    }
}

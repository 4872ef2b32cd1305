//! A scenario in virtual time: simulated hosts, and their results.
//!
//! [`run()`] is a pure function of scenario and seed: bit-identical on every machine, with any
//! number of threads.
//!
//! ```text
//!   scenario ─▶ build(seed) ─▶ network ─┐
//!                          └─▶ hosts ───┴─▶ simulation: virtual time, truth ─▶ result
//! ```

pub mod engine;
pub mod environment;
pub mod record;
pub mod result;
pub mod run;
pub mod traffic;

pub use result::{Probe, ProbeError, RunSummary};
pub use run::{ENGINE_VERSION, Observe, RunError, RunResult, Running, Stretch, run, run_many};

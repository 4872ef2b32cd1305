//! The event engine: scenarios in, results out.
//!
//! [`run()`] is a pure function of scenario and seed: bit-identical on every machine, with any
//! number of threads.
//!
//! ```text
//!   TOML ─▶ scenario ─▶ run ─▶ engine: virtual time, endpoints, pipes ─▶ result
//! ```

pub mod engine;
pub mod record;
pub mod result;
pub mod run;
pub mod scenario;
pub mod traffic;

pub use result::{Probe, ProbeError, RunSummary, ipc_stream};
pub use run::{ENGINE_VERSION, Observe, RunError, RunResult, run, run_many};
pub use scenario::{Scenario, ScenarioError, schema};

//! The event engine: scenarios in, results out.
//!
//! `run(scenario, seed)` is a pure function: bit-identical on every machine, with any number of
//! threads.

pub mod engine;
pub mod result;
pub mod scenario;

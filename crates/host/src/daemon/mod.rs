//! Parts of a program that serves for days: signals, readiness, its guard, its status and metrics,
//! and its successor.

pub mod guard;
pub mod metrics;
pub mod program;
pub mod readiness;
pub mod signals;
pub mod status;
pub mod successor;

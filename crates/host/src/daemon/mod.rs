//! Parts of a program that serves for days: signals, readiness, metrics and its successor.

pub mod metrics;
pub mod readiness;
pub mod signals;
pub mod successor;

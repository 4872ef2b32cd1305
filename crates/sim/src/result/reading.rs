//! One value of a probe.

/// One value of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// A whole number: bytes or packets.
    Count(u64),
    /// A real number: milliseconds or bits per second.
    Real(f64),
    /// There is no value yet.
    Missing,
}

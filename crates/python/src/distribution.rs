//! Distributions that intervals and tests need.

use pyo3::prelude::*;

macro_rules! functions {
    ($($(#[$about:meta])+ $name:ident($($argument:ident),+);)+) => {
        $($(#[$about])+
        #[pyfunction]
        pub(crate) fn $name($($argument: f64),+) -> f64 {
            airtcp_statistics::$name($($argument),+)
        })+
    };
}

functions! {
    /// The share of a gamma distribution of `shape` and scale 1 below `value`.
    gamma_share(shape, value);
    /// The value of a gamma distribution of `shape` and scale 1 with `share` below it.
    gamma_quantile(shape, share);
    /// The value of a beta distribution of `a` and `b` with `share` below it.
    beta_quantile(a, b, share);
    /// The share of Student's t distribution below `value`.
    student_t_share(degrees, value);
    /// The value of Student's t distribution with `share` below it.
    student_t_quantile(degrees, share);
}

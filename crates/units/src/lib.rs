//! Time, rate, size and probability as integer types that parse and print with units.

//! The event engine: scenarios in, results out.

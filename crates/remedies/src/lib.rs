//! The catalogue of remedies.

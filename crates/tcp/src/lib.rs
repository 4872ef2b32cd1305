//! The TCP endpoint as a sans-IO state machine.

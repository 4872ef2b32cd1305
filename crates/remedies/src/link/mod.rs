//! Remedies in the link itself.

pub(crate) mod queue;

//! Remedies in the link itself.

pub(crate) mod inf_retry;
pub(crate) mod queue;

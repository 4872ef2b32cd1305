//! Remedies in the link itself.

mod inf_retry;
mod queue;

use crate::Remedy;

/// In the order of the catalogue.
pub(crate) const ALL: &[Remedy] = &[queue::REMEDY, inf_retry::REMEDY];

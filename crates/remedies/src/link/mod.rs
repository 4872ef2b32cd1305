//! Remedies in the link itself.

mod codel;
mod fq_codel;
mod inf_retry;
mod queue;

use crate::Remedy;

/// In the order of the catalogue.
pub(crate) const ALL: &[Remedy] = &[
    queue::REMEDY,
    codel::REMEDY,
    fq_codel::REMEDY,
    inf_retry::REMEDY,
];

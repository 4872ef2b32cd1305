//! Remedies of a proxy, which ends one connection and begins another.

mod split_tcp;

use crate::Remedy;

/// In the order of the catalogue.
pub(crate) const ALL: &[Remedy] = &[split_tcp::REMEDY];

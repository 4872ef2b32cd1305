//! Remedies of a proxy, which ends one connection and begins another.

pub(crate) mod split_tcp;

//! Remedies at the access point, on packets that pass.

pub(crate) mod delay_injection;
pub(crate) mod ebsn;
pub(crate) mod random_delay;
pub(crate) mod static_delay;

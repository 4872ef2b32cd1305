//! Remedies at the access point, on packets that pass.

pub(crate) mod delay_injection;
pub(crate) mod dynamic_arq;
pub(crate) mod ebsn;
pub(crate) mod random_delay;
pub(crate) mod snoop;
pub(crate) mod static_delay;
pub(crate) mod wtcp;

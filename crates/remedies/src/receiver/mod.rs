//! Remedies with logic at the TCP endpoint that receives the data.

pub(crate) mod acknowledgments;
pub(crate) mod mss_clamp;
pub(crate) mod outages;

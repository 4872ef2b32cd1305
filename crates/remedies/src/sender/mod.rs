//! Remedies with logic at the TCP endpoint that sends the data.

pub(crate) mod prague;
pub(crate) mod send_buffer;
pub(crate) mod sprout;
pub(crate) mod wsc;
pub(crate) mod zigzag;

//! Remedies at the TCP endpoint that receives the data.

pub(crate) mod delayed_ack;
pub(crate) mod dsack;
pub(crate) mod freeze_tcp;
pub(crate) mod hand_off_acks;

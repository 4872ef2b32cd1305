//! Packets as the gateway reads and selects them.

pub mod filter;
pub mod packet_view;

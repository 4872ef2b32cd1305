//! The kernel's interfaces to packets: the packet queue (NFQUEUE) and its netlink messages, packet
//! sockets, the tap, and raw sockets for retransmission.

pub mod netlink;
pub mod nfqueue;
pub mod packet_socket;
pub mod repeater;
mod sampling;
pub mod tap;
